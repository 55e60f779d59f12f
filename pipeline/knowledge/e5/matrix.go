package e5

// matrix is a linear layer: out rows of in weights, in blocks with a scale, and a bias for each row.
type matrix struct {
	in, out int
	weights []int8
	scales  []float32
	bias    []float32
}

// rows are vectors in 8 bits, in blocks with a scale.
type rows struct {
	values []int8
	scales []float32
}

// pack quantises vectors of a size.
func (r *rows) pack(x []float32, size int) {
	r.values, r.scales = resize(r.values, len(x)), resize(r.scales, len(x)/block)
	for b := range r.scales {
		from, to := x[b*block:][:block], r.values[b*block:][:block]
		most := float32(0)
		for _, v := range from {
			most = max(most, v, -v)
		}
		r.scales[b] = most / 127
		inverse := float32(0)
		if most > 0 {
			inverse = 127 / most
		}
		for i, v := range from {
			v *= inverse
			if v < 0 {
				to[i] = int8(v - 0.5)
			} else {
				to[i] = int8(v + 0.5)
			}
		}
	}
}

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// times writes the products of the matrix with each of the rows to y.
func (m *matrix) times(r *rows, y []float32) {
	blocks := m.in / block
	n := len(r.scales) / blocks
	for o := range m.out { // a row of weights stays in the cache for all vectors
		w, s := m.weights[o*m.in:][:m.in], m.scales[o*blocks:][:blocks]
		for t := range n {
			y[t*m.out+o] = m.bias[o] + dotBlocks(w, r.values[t*m.in:][:m.in], s, r.scales[t*blocks:][:blocks])
		}
	}
}
