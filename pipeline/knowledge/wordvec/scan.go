package wordvec

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
)

const (
	maxWords      = 400_000 // maximum number of words used: GloVe has as many, and rarer words hardly help
	maxDimensions = 4096
	maxLine       = 1 << 17 // bytes
)

// scan calls each with every used line of a file and its number, counted from 1. A line is valid until each returns.
// scan returns the SHA-256 of these lines. All errors, including those of each, name file and line.
func scan(path string, each func(number int, line []byte) error) (sum [sha256.Size]byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return sum, fmt.Errorf("open word vectors: %w", err)
	}
	defer f.Close()
	raw := bufio.NewReaderSize(f, 1<<18)
	magic, _ := raw.Peek(4) // the loop below reports read errors
	var in io.Reader = raw
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		if in, err = gzip.NewReader(raw); err != nil {
			return sum, fmt.Errorf("read word vectors %s: %w", path, err)
		}
	case bytes.HasPrefix(magic, []byte("PK\x03\x04")):
		return sum, fmt.Errorf("word vectors %s: this is a zip archive; unpack it and name the file in it", path)
	}
	hash := sha256.New()
	lines := bufio.NewReaderSize(in, maxLine)
	for number := 1; number <= maxWords+1; number++ { // one more, because the first line may be a header
		line, err := lines.ReadSlice('\n')
		hash.Write(line)
		if line = bytes.TrimSpace(line); len(line) > 0 || err == nil {
			if err := each(number, line); err != nil {
				return sum, fmt.Errorf("word vectors %s: line %d: %w", path, number, err)
			}
		}
		switch {
		case err == io.EOF && number == 1 && len(line) == 0:
			return sum, fmt.Errorf("word vectors %s: the file is empty", path)
		case err == io.EOF:
			return [sha256.Size]byte(hash.Sum(nil)), nil
		case errors.Is(err, bufio.ErrBufferFull):
			return sum, fmt.Errorf("word vectors %s: line %d: longer than %d bytes; is it a text file?", path,
				number, maxLine)
		case err != nil:
			return sum, fmt.Errorf("read word vectors %s: line %d: %w", path, number, err)
		}
	}
	return [sha256.Size]byte(hash.Sum(nil)), nil
}
