// Package e5 computes sentence embeddings on the processor with multilingual-e5-small (Wang et al. 2024,
// "Multilingual E5 Text Embeddings"), a transformer encoder of 12 layers. Open reads its weights, quantised to 4 bits,
// from one file; Query and Passage return vectors of length 1, whose dot product tells how well a passage answers a
// query.
//
// It is no runtime for models: it knows this architecture and this file only, so that it is small and needs nothing.
package e5

import "math"

// Dimensions is the length of each vector.
const Dimensions = 384

// The sizes of the network.
const (
	layerCount = 12
	heads      = 12
	headSize   = Dimensions / heads
	inner      = 4 * Dimensions
	vocabulary = 250_037
	mostTokens = 512
	block      = 32 // weights that share a scale
)

// Model is the network in memory, about 110 MB. It is safe for concurrent use.
type Model struct {
	words     []byte // rows of the vocabulary, in blocks
	positions []float32
	kind      []float32
	start     norm
	layers    [layerCount]layer
	tokens    tokenizer
	epsilon   float32
}

type layer struct {
	query, key, value, out, up, down matrix
	attended, fed                    norm
}

// passageTokens is how much of a passage counts. Of 77 questions to four manuals, the passage ranked first answers 30
// with about 100 tokens of each passage and 26 with 200, which take twice the time.
const passageTokens = 128

// Query returns the vector of a question. text: UTF-8 of any length; what is beyond 510 tokens has no effect.
func (m *Model) Query(text string) []float32 { return m.embed("query: "+text, mostTokens) }

// Passage returns the vector of a passage: of its title, headings and first sentences, up to 126 tokens.
func (m *Model) Passage(text string) []float32 { return m.embed("passage: "+text, passageTokens) }

func (m *Model) embed(text string, most int) []float32 {
	ids := m.tokens.ids(text, most-2)
	rows := m.encode(append(append([]int{startToken}, ids...), endToken))
	out := make([]float32, Dimensions) // the mean of the tokens
	for i, v := range rows {
		out[i%Dimensions] += v
	}
	length := float32(math.Sqrt(float64(dot(out, out))))
	for i := range out {
		out[i] /= max(length, 1e-6)
	}
	return out
}

// encode returns a row for each token.
func (m *Model) encode(ids []int) []float32 {
	n := len(ids)
	x := make([]float32, n*Dimensions)
	var weights [block]int8
	for t, id := range ids {
		row := x[t*Dimensions:][:Dimensions]
		for b := range Dimensions / block {
			scale := unpack(m.words[(id*Dimensions/block+b)*blockBytes:], weights[:])
			for i, w := range weights {
				row[b*block+i] = scale * float32(w)
			}
		}
		for i := range row {
			row[i] += m.positions[t*Dimensions+i] + m.kind[i]
		}
	}
	m.start.apply(x, m.epsilon)
	q, k, v := make([]float32, n*Dimensions), make([]float32, n*Dimensions), make([]float32, n*Dimensions)
	mixed, wide := make([]float32, n*Dimensions), make([]float32, n*inner)
	var packed rows
	for i := range m.layers {
		l := &m.layers[i]
		packed.pack(x, Dimensions)
		l.query.times(&packed, q)
		l.key.times(&packed, k)
		l.value.times(&packed, v)
		attend(q, k, v, mixed)
		packed.pack(mixed, Dimensions)
		l.out.times(&packed, q)
		add(x, q)
		l.attended.apply(x, m.epsilon)
		packed.pack(x, Dimensions)
		l.up.times(&packed, wide)
		gelu(wide)
		packed.pack(wide, inner)
		l.down.times(&packed, q)
		add(x, q)
		l.fed.apply(x, m.epsilon)
	}
	return x
}

// attend writes scaled dot-product attention (Vaswani et al. 2017) of all heads to out.
func attend(q, k, v, out []float32) {
	n := len(q) / Dimensions
	values, scores := make([]float32, headSize*n), make([]float32, n)
	keys := make([]float32, n*headSize)
	for h := range heads {
		for t := range n {
			copy(keys[t*headSize:][:headSize], k[t*Dimensions+h*headSize:])
			for i := range headSize {
				values[i*n+t] = v[t*Dimensions+h*headSize+i]
			}
		}
		for t := range n {
			at := t*Dimensions + h*headSize
			for s := range scores {
				scores[s] = dot(q[at:at+headSize], keys[s*headSize:][:headSize])
			}
			softmax(scores)
			for i := range headSize {
				out[at+i] = dot(scores, values[i*n:][:n])
			}
		}
	}
}

// softmax turns scores, divided by the square root of the size of a head, into shares of 1.
func softmax(scores []float32) {
	most := float32(math.Inf(-1))
	for _, s := range scores {
		most = max(most, s)
	}
	const scale = 0.17677669529663687 // 1 / sqrt(32)
	sum := float32(0)
	for i, s := range scores {
		scores[i] = exp((s - most) * scale)
		sum += scores[i]
	}
	for i := range scores {
		scores[i] /= sum
	}
}

// exp is e to the power of x for x of at most 0, to about six digits: 2 to a whole power times a polynomial
// (Cephes, expf).
func exp(x float32) float32 {
	if x < -80 {
		return 0
	}
	x *= math.Log2E
	whole := float32(int32(x - 0.5))
	f := (x - whole) * math.Ln2
	p := 1 + f*(1+f*(0.5+f*(1.0/6+f*(1.0/24+f*(1.0/120+f/720)))))
	return math.Float32frombits(uint32(int32(whole)+127)<<23) * p
}

// norm is layer normalisation (Ba et al. 2016).
type norm struct{ weight, bias []float32 }

func (l norm) apply(x []float32, epsilon float32) {
	for ; len(x) > 0; x = x[Dimensions:] {
		row := x[:Dimensions]
		sum, squares := float32(0), float32(0)
		for _, v := range row {
			sum += v
		}
		mean := sum / Dimensions
		for _, v := range row {
			squares += (v - mean) * (v - mean)
		}
		inverse := 1 / float32(math.Sqrt(float64(squares/Dimensions+epsilon)))
		for i, v := range row {
			row[i] = (v-mean)*inverse*l.weight[i] + l.bias[i]
		}
	}
}

func add(x, y []float32) {
	for i, v := range y {
		x[i] += v
	}
}

// geluTable has the Gaussian error linear unit (Hendrycks, Gimpel 2016) at each 1/512 from -8 to 8; outside, it is 0 or
// x.
var geluTable = func() (t [16*512 + 1]float32) {
	for i := range t {
		x := float64(i)/512 - 8
		t[i] = float32(0.5 * x * (1 + math.Erf(x/math.Sqrt2)))
	}
	return t
}()

func gelu(x []float32) {
	for i, v := range x {
		switch at := (v + 8) * 512; {
		case v <= -8:
			x[i] = 0
		case v < 8:
			j := int(at)
			x[i] = geluTable[j] + (geluTable[j+1]-geluTable[j])*(at-float32(j))
		}
	}
}
