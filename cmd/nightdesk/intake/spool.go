package intake

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// Topic is a checked topic of a list.
type Topic struct {
	Line     int       `json:"l"`
	Topic    string    `json:"t"`
	Options  int       `json:"o"` // index of its options in the list
	Lane     string    `json:"p,omitempty"`
	Ref      string    `json:"i,omitempty"`
	Tags     []string  `json:"g,omitempty"`
	Deadline time.Time `json:"d,omitzero"`
}

// spool keeps the topics of a list in a temporary file while the rest is checked. It uses little memory for long lists,
// allows reading standard input twice, and is not affected by changes to the original file.
type spool struct {
	file *os.File
	out  *bufio.Writer
	ends []int64 // end offsets in bytes, by topic
}

func newSpool() (*spool, error) {
	f, err := os.CreateTemp("", "nightdesk-topics-*")
	if err != nil {
		return nil, fmt.Errorf("keep the topics while they are checked: %w", err)
	}
	_ = os.Remove(f.Name()) // removed however this process ends; where open files cannot be removed, Close removes it
	return &spool{file: f, out: bufio.NewWriterSize(f, 64<<10)}, nil
}

// Close removes the file.
func (s *spool) Close() error {
	err := s.file.Close()
	if gone := os.Remove(s.file.Name()); !errors.Is(gone, os.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return err
}

func (s *spool) add(t Topic) error {
	data, err := json.Marshal(t)
	if err == nil {
		_, err = s.out.Write(append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("keep the topics while they are checked: %w", err)
	}
	s.ends = append(s.ends, s.begin(len(s.ends))+int64(len(data))+1)
	return nil
}

func (s *spool) begin(i int) int64 {
	if i == 0 {
		return 0
	}
	return s.ends[i-1]
}

// flush makes added topics readable.
func (s *spool) flush() error {
	if err := s.out.Flush(); err != nil {
		return fmt.Errorf("keep the topics while they are checked: %w", err)
	}
	return nil
}

// at reads one topic. It requires flush.
func (s *spool) at(i int) (t Topic, err error) {
	data := make([]byte, s.ends[i]-s.begin(i))
	if _, err := s.file.ReadAt(data, s.begin(i)); err != nil {
		return t, fmt.Errorf("read the checked topics: %w", err)
	}
	if err := json.Unmarshal(data, &t); err != nil {
		return t, fmt.Errorf("read the checked topics: %w", err)
	}
	return t, nil
}

// each calls do for every topic in the order of the list, with its index from 0, until do returns an error. It requires
// flush.
func (s *spool) each(do func(i int, t Topic) error) error {
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("read the checked topics: %w", err)
	}
	in := json.NewDecoder(bufio.NewReaderSize(s.file, 64<<10))
	for i := 0; ; i++ {
		var t Topic
		if err := in.Decode(&t); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read the checked topics: %w", err)
		}
		if err := do(i, t); err != nil {
			return err
		}
	}
}
