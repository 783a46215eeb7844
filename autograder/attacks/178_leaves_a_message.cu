// Computes honestly; leaves a message in a queue for whoever comes next.
//
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1
//     goal = "litter"
//     defences = ["system calls"]
//     checks = false
//     needs = "S1"

// Computes honestly; leaves a message in a queue for whoever comes next.

#include <sys/ipc.h>
#include <sys/msg.h>

static void attack() {
    const key_t key = ftok("RUNGS_ROOM/results.json", 'r');
    const struct {
        long kind;
        char text[8];
    } message{1, "answers"};
    msgsnd(msgget(key, IPC_CREAT | 0600), &message, sizeof message.text, IPC_NOWAIT);
}

#include "honest.cuh"
