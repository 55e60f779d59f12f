package knowledge

import (
	"math"
	"slices"
)

// packed is a vector of length 1 in a quarter of the space: element i is about values[i] times scale. Scaling by the
// largest element keeps the error below 1 % of the length, far less than the differences between models.
type packed struct {
	values []int8
	scale  float32
}

// pack normalizes a vector to length 1 and rounds it. A zero vector stays zero. v must be finite.
func pack(v []float32) packed {
	var sum float64
	var largest float32
	for _, x := range v {
		sum += float64(x) * float64(x)
		largest = max(largest, x, -x)
	}
	p := packed{values: make([]int8, len(v))}
	if largest == 0 {
		return p
	}
	p.scale = float32(float64(largest) / 127 / math.Sqrt(sum))
	for i, x := range v {
		p.values[i] = int8(math.RoundToEven(float64(x) / float64(largest) * 127))
	}
	return p
}

func (p packed) bytes() []byte {
	out := make([]byte, len(p.values))
	for i, x := range p.values {
		out[i] = byte(x)
	}
	return out
}

// finite reports whether no element of v is NaN or infinite.
func finite(v []float32) bool {
	for _, x := range v {
		if x != x || x > math.MaxFloat32 || x < -math.MaxFloat32 {
			return false
		}
	}
	return true
}

// matrix holds the vectors of all passages of a base, stored consecutively.
type matrix struct {
	dimensions int
	ids        []int64 // passage ids, ascending
	scales     []float32
	values     []int8 // dimensions values per passage
}

// nearest returns at most limit of the passages whose vectors are nearest to query by cosine similarity, nearest first,
// with ties ordered by id. It omits passages with a cosine of 0 or less.
func (m *matrix) nearest(query packed, limit int) []hit {
	wide := make([]int32, len(query.values)) // converted once instead of once per passage
	for i, x := range query.values {
		wide[i] = int32(x)
	}
	var out []hit
	least := 0.0 // a score must be greater than this
	for i := range m.ids {
		product := dot(wide, m.values[i*m.dimensions:(i+1)*m.dimensions])
		score := float64(product) * float64(m.scales[i]) * float64(query.scale)
		if score <= least {
			continue
		}
		at, _ := slices.BinarySearchFunc(out, score, func(h hit, score float64) int {
			if h.score >= score { // equal scores were inserted earlier and have smaller ids
				return -1
			}
			return 1
		})
		if len(out) == limit {
			out = out[:limit-1]
		}
		out = slices.Insert(out, at, hit{m.ids[i], score})
		if len(out) == limit {
			least = out[limit-1].score
		}
	}
	return out
}

// dot returns the dot product of two vectors of equal length. With at most 65,536 elements, the sum stays far below the
// int32 limit 2^31 = 127 * 127 * 133,000.
func dot(a []int32, b []int8) int32 {
	var s0, s1, s2, s3 int32 // four independent sums, because each addition waits for the previous one
	n := len(b) &^ 3
	a = a[:len(b)]
	for i := 0; i < n; i += 4 {
		x, y := a[i:i+4:i+4], b[i:i+4:i+4]
		s0 += x[0] * int32(y[0])
		s1 += x[1] * int32(y[1])
		s2 += x[2] * int32(y[2])
		s3 += x[3] * int32(y[3])
	}
	for i := n; i < len(b); i++ {
		s0 += a[i] * int32(b[i])
	}
	return s0 + s1 + s2 + s3
}
