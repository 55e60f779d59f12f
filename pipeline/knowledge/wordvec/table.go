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

// head holds the content of the first line and what is known before the vectors are read.
type head struct {
	words      int // number of words in the file; 0 if not stated
	dimensions int
	numbers    int // maximum total of numbers in all vectors used
}

// parseHead parses the first line. In word2vec and fastText files it is a header such as "400000 100"; in GloVe files
// it is the first word with its vector.
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

var errNoFile = errors.New("neither a word with its vector nor a header with the numbers of " +
	"words and dimensions; a GloVe .txt or a word2vec or fastText .vec file, in text form, is needed")

// table holds the words and their vectors in memory. Each number takes one byte, scaled by the largest number of its
// vector; the error is below 1 % of the vector's length.
type table struct {
	dimensions int
	index      map[string]int32
	values     []int8
	scales     []float32 // scale of each vector, multiplied by the weight of its word
	common     []float64 // direction common to all texts, of length 1, or zeros
	skipped    int
}

// load reads the file. name is the model name from New.
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
			t.skipped++ // such words occur in public files
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
		return nil, fmt.Errorf("word vectors %s: the file has changed since the program started; restart it", path)
	}
	t.weigh()
	return t, nil
}

// cutWord splits a line into its word and the numbers after it. The numbers are counted from the end, because some
// words in public files contain spaces.
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

// decimal parses numbers such as -0.038194 several times faster than strconv, because these files contain hundreds of
// millions of them. It returns false for other formats.
func decimal(text []byte) (x float64, ok bool) {
	digits := bytes.TrimPrefix(text, []byte("-"))
	if len(digits) == 0 || len(digits) > 16 { // up to 15 digits stay below 2^53, so only the division rounds
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

// weigh sets the weight a/(a+p) of every word and computes the direction common to all texts. p, the frequency of a
// word, is estimated from its rank by the Zipf-Mandelbrot law. Source: Arora, Liang, Ma, "A simple but tough-to-beat
// baseline for sentence embeddings" (2017). The common direction is the mean of long texts of words drawn by p.
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

// add adds the weighted vector of a word, times factor, to sum.
func (t *table) add(sum []float64, word int32, factor float64) {
	scale := float64(t.scales[word]) * factor
	from := int(word) * t.dimensions
	for i, x := range t.values[from : from+t.dimensions] {
		sum[i] += scale * float64(x)
	}
}
