/* Golden digests of src/num, one table for every machine, compiler and optimisation
 * level. Changing a line here means raising LS_NUMERICS_VERSION. Constant data; any
 * thread. */
#ifndef LS_TESTS_NUM_GOLDEN_H
#define LS_TESTS_NUM_GOLDEN_H

#include "num/selftest.h"

struct num_golden {
	const char *name;
	const char *sampled; /* SHA-256 of the outputs for every 4099th input, little-endian */
	const char *inner; /* the same for the binary64 inner function; NULL where there is none */
	const char *all;   /* SHA-256 of the XXH64s of the 4096 blocks of 2^20 outputs */
	long wrong;        /* outputs that are not correctly rounded */
	const char *worst; /* the largest error, in ulp */
};

/* In the order of ls_selftest_function. */
static const struct num_golden num_golden[] = {
	{"exp", "8092cc4a8e0e78319d2c647bb4fbc6070ab988d6a1daddeaafd72523668225d0",
	 "9f039e305299842c97176979563b185a1fb1a4e3c371845c891350047e9bb7e6",
	 "e6764075b61bde4aaa44b426e47a7bc395da080af7572625e33203d962ec29c1", 0, "0.500000000000"},
	{"log", "97defe6ca2cbff78a070919e56e30a6afb70ae899104c70c26bc8bdd39cfbf6f",
	 "23c813ac6d5a3ad60c8c82d3c909af1b860b6950d868c7fd891574a350bcd995",
	 "180f5524343126f0b9239de7e5f84b780f3bb10f748c1395fd41214dd828d66d", 5, "0.500000000850"},
	{"log1p", "7de9ec1ab4841bb6be7e05bd7cfd6e9a9dcf759e2c196a2e610039e346c948a3",
	 "5fbed6412b73e191c4866bf62784f31556dbfcef2e8d117f0517ff05e11daf99",
	 "c76df20e0380c0fd6c08d0fb51cb3770d8c27ddc60b95e201eda58c4dd6a2fd5", 9, "0.500000000850"},
	{"sigmoid", "d77519131ae261276006261e44cbd46b1b44e1326cc026e1733afbb6df80afd4",
	 "2144cab36b19f276b4f6bff1937179f8bb6fc85df1f1382b36b3c9675c78c947",
	 "bd80c8177597f886f49a62994e4032e1c98865f14b77c64013efca4904acc2ff", 66, "0.500000002693"},
	{"softplus", "4eebf590aa064372b9bb2423ec64902697249d2d6e52294e1bd3e409eca0e4c5",
	 "779bd604c909da0d8761ed6596b4dfefd4c8e4d857a05ba54d39e4bc316c7188",
	 "c705d295cd053d8517887e29659f6af62578cc0bf493a01d727068488eaea718", 1, "0.500000000083"},
};

#define NUM_GOLDEN_SAMPLE      "d30f03f3841ce69d3bb61cc1a527cf67779ce1107a03203c887a64f53a6fd8d2"
#define NUM_GOLDEN_SOFTMAX     "b2968d7021fb904d6233ca0111a8466f30873a3f8a2963c87f35ce0d96895160"
#define NUM_GOLDEN_HALVING     "ab05b92802be77fac6bea01d0c51eea1becb2e9073e5ed192f9bb19f1d6b741a"
#define NUM_GOLDEN_ORDER_FREE  "42f1447392e4ae142bfc9cfaf52d47e8886abd0dc40c321af18b05b78fdb0dcf"
#define NUM_GOLDEN_RANDOM      "4f570116708469136b793762f9a1c312e9a077939ce7f264bc0e93ad62e01199"
#define NUM_GOLDEN_PERMUTATION "c7a5647180e147b338eefb4dc45076fbdcfbf9bde38c5d71a7afa41664345536"

enum { NUM_FUNCTIONS = sizeof num_golden / sizeof *num_golden };

#endif
