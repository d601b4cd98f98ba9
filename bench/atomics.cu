/* The usual way, for comparison: one FM step (k = 16, AdaGrad) with floating-point
 * atomics into a gradient buffer. Its result changes from run to run; nothing of it is in
 * the product. Data as in bench/gpu.c, made on the GPU.
 *   nvcc -O3 -arch=sm_90 -o atomics bench/atomics.cu
 *   ./atomics [rows = 4194304] [features = 1000000]
 * Prints the copy bandwidth, rows/s at three batch sizes (steps as a graph), and rows/s
 * of the forward pass alone. */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call)                                                                                                    \
	do {                                                                                                           \
		cudaError_t rc_ = (call);                                                                              \
		if (rc_ != cudaSuccess) {                                                                              \
			fprintf(stderr, "atomics: %s: %s\n", #call, cudaGetErrorString(rc_));                          \
			exit(1);                                                                                       \
		}                                                                                                      \
	} while (0)

constexpr int FIELDS = 39, K = 16, THREADS = 256;
__constant__ unsigned char log2_values[FIELDS] = {4,  5,  5,  6,  6,  6,  6,  6,  7, 5,  5,  5,  6,
						  10, 9,  23, 21, 8,  5,  13, 9,  2, 16, 12, 22, 11,
						  5,  13, 22, 3,  12, 11, 2,  22, 4, 4,  18, 7,  17};

__device__ uint64_t mix(uint64_t z)
{
	z += 0x9E3779B97F4A7C15u;
	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
	z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
	return z ^ (z >> 31);
}

__global__ void make_data(uint32_t *feature, float *label, uint64_t rows, uint64_t features)
{
	uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x, r = i / FIELDS, f = i % FIELDS;
	if (r >= rows)
		return;
	uint64_t h = mix(mix(42) ^ (r * 64 + f)), bits = (h >> 32) % (log2_values[f] + 1u);
	uint64_t value = (1ull << bits) + (h & ((1ull << bits) - 1));
	feature[i] = (uint32_t)(mix((f + 1) << 40 ^ value) % features);
	if (f == 0)
		label[r] = (float)(mix(r ^ 0x5bd1e995) & 1);
}

struct model {
	float *record; // features × [16 factors][16 sums of squares]
	float *linear; // features × [weight][sum of squares]
	float *bias, *grad, *grad_linear, *grad_bias;
	uint32_t *touched, *list, *n_list;
};

__global__ void start(model m, uint64_t features)
{
	uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= features)
		return;
	for (int k = 0; k < K; k++) {
		m.record[i * 32 + k] = 0.01f * ((float)(mix(i * K + k) & 0xffff) / 32768.0f - 1.0f);
		m.record[i * 32 + 16 + k] = 1.0f;
	}
	m.linear[2 * i] = 0.0f;
	m.linear[2 * i + 1] = 1.0f;
}

// Four lanes a row, four factors a lane.
__device__ float forward_row(const model &m, const uint32_t *feature, float4 *ret_s)
{
	int lane = threadIdx.x % 4;
	float4 s = make_float4(0, 0, 0, 0), q = s;
	float sum = *m.bias;
#pragma unroll 4
	for (int i = 0; i < FIELDS; i++) {
		uint32_t f = feature[i];
		float4 v = *(const float4 *)(m.record + (uint64_t)f * 32 + 4 * lane);
		s.x += v.x, s.y += v.y, s.z += v.z, s.w += v.w;
		q.x += v.x * v.x, q.y += v.y * v.y, q.z += v.z * v.z, q.w += v.w * v.w;
		sum += m.linear[2 * (uint64_t)f];
	}
	float t = s.x * s.x - q.x + s.y * s.y - q.y + s.z * s.z - q.z + s.w * s.w - q.w;
	t += __shfl_xor_sync(0xffffffff, t, 1, 4);
	t += __shfl_xor_sync(0xffffffff, t, 2, 4);
	*ret_s = s;
	return sum + 0.5f * t;
}

__global__ void rows(model m, const uint32_t *feature, const float *label, uint64_t n_rows, const uint32_t *step,
		     uint32_t batch, int backward, float *out)
{
	uint32_t b = (blockIdx.x * blockDim.x + threadIdx.x) / 4, lane = threadIdx.x % 4;
	if (b >= batch)
		return;
	// scattered rows, as a shuffle would give
	uint64_t r = (((uint64_t)*step * batch + b) * 2654435761u) % n_rows;
	const uint32_t *ids = feature + r * FIELDS;
	float4 s;
	float score = forward_row(m, ids, &s), g = 1.0f / (1.0f + __expf(-score)) - label[r];
	if (!backward) {
		if (lane == 0)
			out[b] = score;
		return;
	}
	if (lane == 0)
		atomicAdd(m.grad_bias, g);
	for (int i = 0; i < FIELDS; i++) {
		uint64_t f = ids[i];
		float4 v = *(const float4 *)(m.record + f * 32 + 4 * lane);
		float *to = m.grad + f * K + 4 * lane;
		atomicAdd((float4 *)to,
			  make_float4(g * (s.x - v.x), g * (s.y - v.y), g * (s.z - v.z), g * (s.w - v.w)));
		if (lane == 0) {
			atomicAdd(m.grad_linear + f, g);
			if (!m.touched[f] && atomicExch(&m.touched[f], 1) == 0)
				m.list[atomicAdd(m.n_list, 1)] = (uint32_t)f;
		}
	}
}

__device__ void adagrad(float *v, float *sum, float *grad)
{
	float g = *grad;
	*sum += g * g;
	*v -= 0.05f * g * rsqrtf(*sum);
	*grad = 0.0f;
}

__global__ void update(model m)
{
	uint32_t n = *m.n_list;
	for (uint32_t i = (blockIdx.x * blockDim.x + threadIdx.x) / K; i < n; i += gridDim.x * blockDim.x / K) {
		uint64_t f = m.list[i], k = threadIdx.x % K;
		adagrad(m.record + f * 32 + k, m.record + f * 32 + 16 + k, m.grad + f * K + k);
		if (k == 0) {
			adagrad(m.linear + 2 * f, m.linear + 2 * f + 1, m.grad_linear + f);
			m.touched[f] = 0;
		}
	}
}

__global__ void finish(model m, uint32_t *step)
{
	adagrad(m.bias, m.bias + 1, m.grad_bias);
	*m.n_list = 0;
	++*step;
}

template <typename T> T *device(uint64_t n)
{
	void *p;
	CHECK(cudaMalloc(&p, n * sizeof(T)));
	CHECK(cudaMemset(p, 0, n * sizeof(T)));
	return (T *)p;
}

static double copy_bandwidth(cudaEvent_t from, cudaEvent_t to)
{
	uint64_t bytes = 2ull << 30;
	char *a = device<char>(bytes), *b = device<char>(bytes);
	float best = 1e9f;
	for (int i = 0; i < 6; i++) {
		float ms;
		CHECK(cudaEventRecord(from));
		CHECK(cudaMemcpyAsync(b, a, bytes, cudaMemcpyDeviceToDevice));
		CHECK(cudaEventRecord(to));
		CHECK(cudaEventSynchronize(to));
		CHECK(cudaEventElapsedTime(&ms, from, to));
		best = ms < best ? ms : best;
	}
	CHECK(cudaFree(a));
	CHECK(cudaFree(b));
	return 2.0 * bytes / (best * 1e-3);
}

int main(int argc, char **argv)
{
	uint64_t n = argc > 1 ? strtoull(argv[1], nullptr, 10) : 1 << 22,
		 features = argc > 2 ? strtoull(argv[2], nullptr, 10) : 1000000;
	uint32_t *feature = device<uint32_t>(n * FIELDS), *step = device<uint32_t>(1);
	float *label = device<float>(n), *out = device<float>(65536);
	model m = {device<float>(features * 32), device<float>(features * 2), device<float>(2),
		   device<float>(features * K),  device<float>(features),     device<float>(1),
		   device<uint32_t>(features),   device<uint32_t>(features),  device<uint32_t>(1)};
	float one = 1.0f;
	CHECK(cudaMemcpy(m.bias + 1, &one, sizeof one, cudaMemcpyHostToDevice));
	make_data<<<(unsigned)((n * FIELDS + 255) / 256), 256>>>(feature, label, n, features);
	start<<<(unsigned)((features + 255) / 256), 256>>>(m, features);
	cudaEvent_t from, to;
	CHECK(cudaEventCreate(&from));
	CHECK(cudaEventCreate(&to));
	cudaStream_t s;
	CHECK(cudaStreamCreate(&s));
	CHECK(cudaDeviceSynchronize());
	printf("copy bandwidth %.2f TB/s\n", copy_bandwidth(from, to) * 1e-12);
	for (int backward = 1; backward >= 0; backward--)
		for (uint32_t batch : {65536u, 4096u, 256u}) {
			int per_graph = batch == 65536 ? 8 : 64, launches = batch == 65536 ? 20 : 50;
			cudaGraph_t graph;
			cudaGraphExec_t exec;
			CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
			for (int i = 0; i < per_graph; i++) {
				rows<<<(batch * 4 + THREADS - 1) / THREADS, THREADS, 0, s>>>(m, feature, label, n, step,
											     batch, backward, out);
				if (backward)
					update<<<batch >= 4096 ? 1056 : 132, THREADS, 0, s>>>(m);
				finish<<<1, 1, 0, s>>>(m, step);
			}
			CHECK(cudaStreamEndCapture(s, &graph));
			CHECK(cudaGraphInstantiate(&exec, graph, 0));
			CHECK(cudaGraphLaunch(exec, s));
			CHECK(cudaEventRecord(from, s));
			for (int i = 0; i < launches; i++)
				CHECK(cudaGraphLaunch(exec, s));
			CHECK(cudaEventRecord(to, s));
			CHECK(cudaStreamSynchronize(s));
			float ms;
			CHECK(cudaEventElapsedTime(&ms, from, to));
			printf("%s batch %-6u %8.2f M rows/s\n", backward ? "float atomics" : "forward alone", batch,
			       1e-3 * batch * per_graph * launches / ms);
		}
	return 0;
}
