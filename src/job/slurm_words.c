#include "job/slurm_words.h"

#include <stddef.h>
#include <string.h>

/* A code stands for all that begin with it where it ends in '*': AssocGrpCpuLimit and its
 * kin. */
static const struct {
	const char *code, *words;
} table[] = {
	{"Priority", "jobs with a higher priority are before it"},
	{"Resources", "it is next, and waits until enough nodes, GPUs or memory are free"},
	{"Dependency", "it waits for another job that has to end first"},
	{"DependencyNeverSatisfied",
	 "the job it comes after has failed, so it will never run: cancel it, retry that one, and "
	 "submit it again"},
	{"JobArrayTaskLimit", "as many tasks of its array run as --throttle allows"},
	{"BeginTime", "its start time has not come; a requeued job waits some two minutes"},
	{"JobHeldUser", "it is held: `scontrol release` with its job id lets it go on"},
	{"JobHeldAdmin", "an administrator of the cluster holds it"},
	{"JobHoldMaxRequeue", "it was requeued too often and is held"},
	{"PartitionDown", "its partition does not start jobs now"},
	{"PartitionInactive", "its partition does not take jobs now"},
	{"PartitionNodeLimit",
	 "it asks for more nodes than its partition allows, or these nodes are down"},
	{"PartitionTimeLimit", "its time limit (--time) is longer than its partition allows"},
	{"PartitionConfig", "its partition does not allow what it asks for"},
	{"AccountNotAllowed", "its account (--account) may not use this partition"},
	{"QOSNotAllowed", "its QOS (--qos) may not be used in this partition"},
	{"InvalidAccount", "its account (--account) is not known"},
	{"InvalidQOS", "its QOS (--qos) is not known"},
	{"ReqNodeNotAvail*",
	 "nodes that it needs are down, drained or reserved: `sinfo -R` says why"},
	{"Reservation", "it waits for its reservation"},
	{"ReservationDeleted", "its reservation was deleted, and it is held"},
	{"Licenses", "it waits for a license"},
	{"BadConstraints", "no node has what it asks for (--constraint, --mem, --gres)"},
	{"Constraints", "no free node has what it asks for (--constraint)"},
	{"NodeDown", "a node that it needs is down"},
	{"QOSMaxJobsPerUserLimit", "you have as many jobs as this QOS allows"},
	{"QOSMaxGRESPerUser", "you use as many GPUs as this QOS allows"},
	{"QOSMaxCpuPerUserLimit", "you use as many processors as this QOS allows"},
	{"QOSMaxMemoryPerUser", "you use as much memory as this QOS allows"},
	{"QOSMaxNodePerUserLimit", "you use as many nodes as this QOS allows"},
	{"QOSMaxWallDurationPerJobLimit", "its time limit (--time) is longer than its QOS allows"},
	{"QOSMaxSubmitJobPerUserLimit", "you have as many jobs in the queue as this QOS allows"},
	{"QOS*", "a limit of its QOS is reached: `sacctmgr show qos` has the limits"},
	{"AssocMaxJobsLimit", "you have as many jobs as your account allows"},
	{"Assoc*", "a limit of your account is reached: `sacctmgr show assoc` has the limits"},
	{"MaxGRESPerAccount", "your account uses as many GPUs as it may"},
	{"Max*", "a limit of your account or QOS is reached"},
	{"Cleaning", "Slurm is still tidying up after its last run"},
	{"Prolog", "its node is being prepared"},
	{"WaitingForScheduling", "Slurm has not looked at it yet"},
	{"None", "Slurm has not looked at it yet"},
	{"SystemFailure", "Slurm itself had a fault; an administrator has to look"},
	{"JobLaunchFailure",
	 "its node could not start it (a full disk, a missing user): `scontrol show job` has more"},
	{"launch_failed_requeued_held",
	 "its node could not start it, and it is held: `scontrol release` tries again"},
	{"NonZeroExitCode", "its script ended with another status than 0"},
	{"OutOfMemory", "it used more memory than it had asked for (--mem)"},
	{"TimeLimit", "it ran until its time limit"},
	{"BurstBufferResources", "it waits for room in the burst buffer"},
	{"FedJobLock", "another cluster of the federation decides about it"},
};

static int fits(const char *code, const char *pattern)
{
	size_t n = strlen(pattern);
	if (pattern[n - 1] != '*')
		return strcmp(code, pattern) == 0;
	return strncmp(code, pattern, n - 1) == 0;
}

const char *ls_slurm_reason(const char *code)
{
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (fits(code, table[i].code))
			return table[i].words;
	return NULL;
}
