package knowledge

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// randomMatrix returns n random vectors, exactly and packed.
func randomMatrix(n, dimensions int) (*vectorIndex, [][]float32) {
	random := rand.New(rand.NewPCG(5, 6))
	x := &vectorIndex{matrix: matrix{dimensions: dimensions, values: make([]int8, 0, n*dimensions)}}
	exact := make([][]float32, n)
	for i := range exact {
		v := make([]float32, dimensions)
		for j := range v {
			v[j] = float32(random.NormFloat64())
		}
		p := pack(v)
		x.ids, x.scales = append(x.ids, int64(i+1)), append(x.scales, p.scale)
		x.values = append(x.values, p.values...)
		exact[i] = v
	}
	return x, exact
}

func cosine(a, b []float32) float64 {
	var ab, aa, bb float64
	for i := range a {
		ab += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	return ab / math.Sqrt(aa*bb)
}

// Packed vectors rank as exact ones do: every score is right to 0.01, and nothing that is clearly better is missed.
func TestNearestIsExact(t *testing.T) {
	t.Parallel()
	for _, dimensions := range []int{1, 3, 384, 1537} {
		t.Run(fmt.Sprint(dimensions), func(t *testing.T) {
			t.Parallel()
			x, exact := randomMatrix(3000, dimensions)
			for q := range 5 {
				query := exact[q*7]
				got := x.nearest(pack(query), 20)
				if !slices.IsSortedFunc(got, func(a, b hit) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.id, b.id)) }) {
					t.Error("not in order")
				}
				if dimensions > 3 && got[0].id != int64(q*7+1) {
					t.Errorf("the query's own vector is not the nearest: %+v", got[0])
				}
				found := map[int64]bool{}
				for _, h := range got {
					found[h.id] = true
					if want := cosine(query, exact[h.id-1]); math.Abs(h.score-want) > 0.01 {
						t.Errorf("score %f, exactly %f", h.score, want)
					}
				}
				for i, v := range exact {
					if c := cosine(query, v); c > got[len(got)-1].score+0.02 && !found[int64(i+1)] {
						t.Errorf("%d with %f is missing, the last has %f", i+1, c, got[len(got)-1].score)
					}
				}
			}
		})
	}
}

// Equal vectors are ordered by id.
func TestNearestTies(t *testing.T) {
	t.Parallel()
	x, exact := randomMatrix(1000, 16)
	for i := range 10 { // equal vectors tie
		copy(x.values[(100+90*i)*16:], x.values[:16])
		x.scales[100+90*i] = x.scales[0]
	}
	want := x.nearest(pack(exact[0]), 30)
	if want[0].id != 1 || want[1].id != 101 || want[10].id != 911 {
		t.Errorf("ties are not by id: %v", want[:11])
	}
}

func TestPackZeros(t *testing.T) {
	t.Parallel()
	x := &matrix{dimensions: 2, ids: []int64{1}, scales: []float32{0}, values: []int8{0, 0}}
	if got := x.nearest(pack([]float32{1, 1}), 5); len(got) != 0 {
		t.Error(got)
	}
	if p := pack([]float32{0, 0}); p.scale != 0 {
		t.Error(p)
	}
	if p := pack([]float32{math.SmallestNonzeroFloat32, 3e38, -3e38}); p.values[2] != -127 || math.Abs(float64(p.scale)*127-math.Sqrt(0.5)) > 1e-6 {
		t.Error(p)
	}
}

func FuzzPack(f *testing.F) {
	f.Add(float32(1), float32(-2), float32(0.5))
	f.Add(float32(1e-45), float32(0), float32(3e38))
	f.Fuzz(func(t *testing.T, a, b, c float32) {
		v := []float32{a, b, c}
		if !finite(v) || a == 0 && b == 0 && c == 0 {
			t.Skip()
		}
		p := pack(v)
		var sum float64
		for i, x := range p.values {
			if x == -128 || (float64(v[i]) > 0 && x < 0) || (float64(v[i]) < 0 && x > 0) {
				t.Fatalf("%v packed as %v", v, p)
			}
			sum += math.Pow(float64(x)*float64(p.scale), 2)
		}
		if math.Abs(math.Sqrt(sum)-1) > 0.02 {
			t.Fatalf("%v packed as %v has length %f", v, p, math.Sqrt(sum))
		}
	})
}

func BenchmarkNearest(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		x, exact := randomMatrix(n, 384)
		query := pack(exact[0])
		b.Run(fmt.Sprintf("%dx384", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if got := x.nearest(query, 120); len(got) != 120 {
					b.Fatal(len(got))
				}
			}
		})
	}
}
