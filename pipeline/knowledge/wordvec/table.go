package wordvec

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// head is what the first line says, and what is known without reading the vectors.
type head struct {
	words      int // that the file has; 0 = not said
	dimensions int
	numbers    int // of all vectors that are used, at most
}

// parseHead reads the first line: "400000 100" before the first word in the files of word2vec and fastText, or a word
// with its vector in those of GloVe.
func parseHead(line []byte) (head, error) {
	fields := bytes.Fields(line)
	h := head{dimensions: len(fields) - 1}
	if len(fields) == 2 {
		words, err := strconv.Atoi(string(fields[0]))
		dimensions, err2 := strconv.Atoi(string(fields[1]))
		if err != nil || err2 != nil || words < 1 {
			return h, errNoFile
		}
		h = head{words: words, dimensions: dimensions}
	} else if _, err := parseVector(nil, line[bytes.IndexAny(line, " \t")+1:]); err != nil {
		return h, errNoFile
	}
	if h.dimensions < 2 || h.dimensions > maxDimensions {
		return h, fmt.Errorf("vectors of %d numbers; 2 to %d are supported", h.dimensions, maxDimensions)
	}
	return h, nil
}

var errNoFile = errors.New("neither a word with its vector nor the numbers of words and dimensions; " +
	"a GloVe .txt or a word2vec or fastText .vec file, in text form, is needed")

// table is the words and their vectors in memory: a byte for each number, scaled by the largest of its vector, which
// is off by less than 1 % of its length.
type table struct {
	dimensions int
	index      map[string]int32
	values     []int8
	scales     []float32 // of a vector, times the weight of its word
	common     []float64 // direction that all texts have in common, of length 1 or zeros
	skipped    int
}

// load reads the file. name: what the model was called by New.
func load(path string, h head, name string) (*table, error) {
	t := &table{dimensions: h.dimensions, index: map[string]int32{}, common: make([]float64, h.dimensions)}
	t.values = make([]int8, 0, h.numbers) // growing would need twice the memory
	var vector []float64
	last := 0
	sum, err := scan(path, func(number int, line []byte) error {
		last = number
		if number == 1 && h.words > 0 || len(t.scales) == maxWords {
			return nil
		}
		word, rest, err := cutWord(line, h.dimensions)
		if err != nil {
			return err
		}
		if vector, err = parseVector(vector[:0], rest); err != nil {
			return err
		}
		if _, double := t.index[string(word)]; double || !utf8.Valid(word) || bytes.ContainsAny(word, " \t") {
			t.skipped++ // such words are in public files
			return nil
		}
		t.index[string(word)] = int32(len(t.scales))
		t.append(vector)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if have := last - 1; h.words > 0 && have < min(h.words, maxWords) {
		return nil, fmt.Errorf("word vectors %s: line %d: the file ends after %d of %d words; is it whole?", path,
			last, have, h.words)
	}
	if !strings.Contains(name, fmt.Sprintf("-%x@", sum[:8])) {
		return nil, fmt.Errorf("word vectors %s: the file has changed since the start; start again", path)
	}
	t.weigh()
	return t, nil
}

// cutWord cuts a line into its word and the numbers behind it, which are counted from the end: some words of public
// files have spaces in them.
func cutWord(line []byte, dimensions int) (word, vector []byte, err error) {
	at := len(line)
	for n := range dimensions {
		for at > 0 && !isSpace(line[at-1]) {
			at--
		}
		if at == 0 {
			return nil, nil, fmt.Errorf("%d numbers instead of %d", n, dimensions)
		}
		vector = line[at:]
		for at > 0 && isSpace(line[at-1]) {
			at--
		}
	}
	return line[:at], vector, nil
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' }

// parseVector appends the numbers of a line to dst.
func parseVector(dst []float64, line []byte) ([]float64, error) {
	n := len(dst)
	for at := 0; ; {
		for at < len(line) && isSpace(line[at]) {
			at++
		}
		if at == len(line) {
			return dst, nil
		}
		from := at
		for at < len(line) && !isSpace(line[at]) {
			at++
		}
		number := line[from:at]
		x, ok := decimal(number)
		if !ok {
			var err error
			x, err = strconv.ParseFloat(string(number), 32)
			if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
				return nil, fmt.Errorf("number %d of the vector is %q, which cannot be used", len(dst)-n+1,
					number[:min(len(number), 40)])
			}
		}
		dst = append(dst, x)
	}
}

// decimal reads -0.038194 and the like, which is what these files hold by the hundred million, several times faster
// than strconv. ok = false: it is something else.
func decimal(text []byte) (x float64, ok bool) {
	digits := bytes.TrimPrefix(text, []byte("-"))
	if len(digits) == 0 || len(digits) > 16 { // below 2^53, and the division rounds once
		return 0, false
	}
	mantissa, scale, point := 0, 1.0, false
	for _, c := range digits {
		switch {
		case c >= '0' && c <= '9':
			mantissa = 10*mantissa + int(c-'0')
			if point {
				scale *= 10
			}
		case c == '.' && !point:
			point = true
		default:
			return 0, false
		}
	}
	if point && len(digits) == 1 || !point && len(digits) > 15 {
		return 0, false
	}
	x = float64(mantissa) / scale
	if len(digits) < len(text) {
		x = -x
	}
	return x, true
}

// append stores the vector of the next word.
func (t *table) append(v []float64) {
	var largest float64
	for _, x := range v {
		largest = max(largest, math.Abs(x))
	}
	scale := float32(largest / 127)
	for _, x := range v {
		if scale == 0 { // all zeros, or nearly
			x = 0
		} else {
			x = math.RoundToEven(x / largest * 127)
		}
		t.values = append(t.values, int8(x))
	}
	t.scales = append(t.scales, scale)
}

// weigh gives every word its weight a/(a+p) and finds what texts have in common. p, how often a word is used, follows
// from its rank by the law of Zipf and Mandelbrot. Source: Arora, Liang, Ma, "A simple but tough-to-beat baseline for
// sentence embeddings" (2017). The common direction is theirs for long texts of words drawn by p: the mean of these.
func (t *table) weigh() {
	const a, shift = 1e-3, 2.7
	var all float64
	for rank := range t.scales {
		all += 1 / (float64(rank) + 1 + shift)
	}
	for rank := range t.scales {
		p := 1 / (float64(rank) + 1 + shift) / all
		t.scales[rank] *= float32(a / (a + p))
		t.add(t.common, int32(rank), p)
	}
	if length := norm(t.common); length > 0 {
		for i := range t.common {
			t.common[i] /= length
		}
	}
}

// add adds the weighted vector of a word, times factor.
func (t *table) add(sum []float64, word int32, factor float64) {
	scale := float64(t.scales[word]) * factor
	from := int(word) * t.dimensions
	for i, x := range t.values[from : from+t.dimensions] {
		sum[i] += scale * float64(x)
	}
}
