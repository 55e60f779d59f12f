package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// spooledTopic is a topic of a list that was checked.
type spooledTopic struct {
	Line     int       `json:"l"`
	Topic    string    `json:"t"`
	Options  int       `json:"o"` // number of its options among those of the list
	Lane     string    `json:"p,omitempty"`
	Ref      string    `json:"i,omitempty"`
	Tags     []string  `json:"g,omitempty"`
	Deadline time.Time `json:"d,omitzero"`
}

// spool keeps the topics of a list in a temporary file while the rest of it is checked: a list of any length takes no
// memory, standard input can be read again, and a file that is changed meanwhile changes nothing.
type spool struct {
	file *os.File
	out  *bufio.Writer
}

func newSpool() (*spool, error) {
	f, err := os.CreateTemp("", "nightdesk-topics-*")
	if err != nil {
		return nil, fmt.Errorf("keep the topics while they are checked: %w", err)
	}
	return &spool{file: f, out: bufio.NewWriterSize(f, 64<<10)}, nil
}

// Close removes it.
func (s *spool) Close() error {
	return errors.Join(s.file.Close(), os.Remove(s.file.Name()))
}

func (s *spool) add(t spooledTopic) error {
	data, err := json.Marshal(t)
	if err == nil {
		_, err = s.out.Write(append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("keep the topics while they are checked: %w", err)
	}
	return nil
}

// each calls do for every topic in the order of the list, with its number from 0, until do returns an error.
func (s *spool) each(do func(i int, t spooledTopic) error) error {
	if err := s.out.Flush(); err != nil {
		return fmt.Errorf("keep the topics while they are checked: %w", err)
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("read the checked topics: %w", err)
	}
	in := json.NewDecoder(bufio.NewReaderSize(s.file, 64<<10))
	for i := 0; ; i++ {
		var t spooledTopic
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
