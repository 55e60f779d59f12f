package knowledge

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"nightdesk/pipeline/knowledge/extract"
)

// A batch of documents is extracted together and written in one transaction.
const (
	batchFiles = 64
	batchBytes = 16 << 20
)

// ErrEmpty means that nothing below the roots could be read: the base is left as it was.
var ErrEmpty = errors.New("no readable document")

// Report says what an ingestion did.
type Report struct {
	Added     int       `json:"added"`
	Updated   int       `json:"updated"`
	Unchanged int       `json:"unchanged"`
	Removed   int       `json:"removed"`
	Empty     int       `json:"empty"`   // Markdown and text files without text, such as stubs
	Skipped   []Skipped `json:"skipped"` // other files that could not be read, sorted by document
}

// Skipped is a file that did not become a document.
type Skipped struct {
	Document string `json:"document"` // its key
	Reason   string `json:"reason"`   // for a person
}

// Ingest makes the base hold the documents below roots, which are directories, files or addresses of web pages, and
// nothing else. Only what changed since the last time is extracted again. progress may be nil; it is called from one
// goroutine at a time, after each file, with done counting up to total.
//
// A file that cannot be read is reported and does not end the work; what the base held of it stays. So does that of a
// web page in whose place stands nothing or a notice; one that is gone (404, 410, or it says so) goes. The error is
// ErrEmpty, context.Cause(ctx), or one of the file system or of SQLite. Work is committed in batches: after an error
// or a kill the base is in order, and the next Ingest goes on from there. When two processes ingest, the second waits
// for each batch of the first.
func (b *Base) Ingest(ctx context.Context, roots []string,
	progress func(done, total int, name string)) (Report, error) {
	files, skipped, unread, err := gather(ctx, roots)
	if err != nil {
		return Report{}, err
	}
	known, err := b.known(ctx)
	if err != nil {
		return Report{}, err
	}
	if progress == nil {
		progress = func(int, int, string) {}
	}
	in := &ingestion{base: b, known: known, report: Report{Skipped: skipped}, keep: map[string]bool{}, unread: unread}
	in.progress = func(name string) { in.done++; progress(in.done, len(files), name) }
	err = in.run(ctx, files)
	slices.SortStableFunc(in.report.Skipped, func(a, b Skipped) int { return strings.Compare(a.Document, b.Document) })
	if err == nil && len(in.keep) == 0 {
		err = nothing(roots, in.report)
	}
	if err == nil {
		err = in.finish(ctx)
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return in.report, err
}

// nothing says why there is no document below roots.
func nothing(roots []string, r Report) error {
	skipped := r.Skipped
	if len(skipped) == 1 && IsURL(skipped[0].Document) {
		return fmt.Errorf("%w: %s: %s", ErrEmpty, skipped[0].Document, skipped[0].Reason)
	}
	shown := slices.Clone(roots)
	for i, root := range shown {
		if IsURL(root) {
			shown[i], _ = PageKey(root) // gather has read it
		}
	}
	return fmt.Errorf("%w below %s: looked for %s, found %d other files",
		ErrEmpty, strings.Join(shown, ", "), extract.Readable, len(skipped)+r.Empty)
}

// state is what the base knows of a document's file.
type state struct {
	id    int64
	size  int64
	mtime int64
	hash  string
}

func (b *Base) known(ctx context.Context) (map[string]state, error) {
	rows, err := b.read.QueryContext(ctx, `SELECT key, id, size, mtime, hash FROM documents`)
	if err != nil {
		return nil, fmt.Errorf("read the list of documents: %w", err)
	}
	defer rows.Close()
	out := map[string]state{}
	for rows.Next() {
		var key string
		var s state
		if err := rows.Scan(&key, &s.id, &s.size, &s.mtime, &s.hash); err != nil {
			return nil, fmt.Errorf("read the list of documents: %w", err)
		}
		out[key] = s
	}
	return out, rows.Err()
}

// ingestion is one call of Ingest. Its fields belong to the goroutine that writes.
type ingestion struct {
	base     *Base
	known    map[string]state
	report   Report
	keep     map[string]bool // keys that the base holds afterwards
	unread   []string
	done     int
	progress func(name string)
}

// prepared is a file after extraction.
type prepared struct {
	source
	hash   string
	doc    extract.Document
	chunks []prepareChunk
	labels []label
	err    error
	path   string // of the file, absolute; empty: a page
	same   bool   // size and time are those of the last ingestion, or the content is
	read   bool   // the content was read, so that err is about what is in it
}

// over reports that what could not be used takes the place of what was there: a file is what it is, sites have bad
// days.
func (p prepared) over() bool {
	return errors.Is(p.err, extract.ErrNoPage) || p.read && p.address == ""
}

// stub reports whether a file of plain text has no text. Files of other types can hold text that is not found, such as
// scans, and a web page without text is a failure.
func (p prepared) stub() bool {
	kind, _ := extract.TypeOf(p.name)
	return p.address == "" && errors.Is(p.err, extract.ErrEmpty) &&
		(kind == extract.TypeMarkdown || kind == extract.TypeText)
}

type prepareChunk struct {
	chunk
	hash  string
	words [3]string // title, section and text for the index
}

// run extracts batches while the one before is written.
func (in *ingestion) run(ctx context.Context, files []source) error {
	group, ctx := errgroup.WithContext(ctx)
	batches := make(chan []prepared, 1)
	group.Go(func() error {
		defer close(batches)
		for len(files) > 0 {
			n, size := 0, int64(0)
			for n < len(files) && n < batchFiles && (n == 0 || size+files[n].size <= batchBytes) {
				size += files[n].size
				n++
			}
			select {
			case batches <- in.prepare(ctx, files[:n]):
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			files = files[n:]
		}
		return nil
	})
	group.Go(func() error {
		for batch := range batches {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := in.write(ctx, batch); err != nil {
				return err
			}
		}
		return nil
	})
	return group.Wait()
}

// prepare extracts files in parallel, each into its own slot.
func (in *ingestion) prepare(ctx context.Context, files []source) []prepared {
	out := make([]prepared, len(files))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, f := range files {
		group.Go(func() error {
			if ctx.Err() == nil {
				out[i] = in.base.prepareFile(ctx, f, in.known[f.key])
			}
			return nil
		})
	}
	_ = group.Wait() // the functions return no errors: a broken file is data
	return out
}

func (b *Base) prepareFile(ctx context.Context, f source, old state) prepared {
	p := prepared{source: f}
	if f.address == "" {
		p.path, _ = filepath.Abs(f.file) // fails without a working directory: the document can be read all the same
	}
	seen := f.address == "" && old.size == f.size && old.mtime == f.modified.UnixNano()
	if seen && strings.HasSuffix(old.hash, extraction) {
		p.same, p.hash = true, old.hash
		return p
	}
	data, err := p.content(ctx, b.download)
	if err != nil {
		p.err = err
		return p
	}
	p.read = true
	sum := sha256.Sum256(data)
	p.hash = hex.EncodeToString(sum[:]) + extraction
	if p.hash == old.hash {
		p.same = true
		return p
	}
	if p.doc, p.err = extract.File(ctx, p.name, data); p.err != nil {
		return p
	}
	if kind, _ := extract.TypeOf(p.name); p.address != "" && kind == extract.TypeHTML {
		if p.err = extract.InItsPlace(p.doc.Title, p.doc.Text, data); p.err != nil {
			return p
		}
	}
	if p.doc.Title == "" {
		p.doc.Title = titleFromName(p.name)
	}
	for _, c := range chunks(p.doc) {
		path := p.doc.Sections[c.section].Path
		text := sha256.Sum256([]byte(c.text))
		p.chunks = append(p.chunks, prepareChunk{c, hex.EncodeToString(text[:]),
			[3]string{segment(p.doc.Title), segment(strings.Join(path, " ")), segment(c.text)}})
	}
	p.labels = labels(p.doc)
	return p
}

// content reads the file or downloads the page.
func (s *source) content(ctx context.Context, download Downloader) ([]byte, error) {
	if s.address != "" {
		return s.fetchPage(ctx, download)
	}
	data, err := readFile(s.file)
	if err != nil {
		return nil, fmt.Errorf("unreadable: %s", reason(err))
	}
	return data, nil
}

// readFile reads a file that may have grown since it was listed.
func readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("too large: at most %d MB are read", maxFile>>20)
	}
	return data, err
}

func titleFromName(name string) string {
	return strings.Join(strings.FieldsFunc(strings.TrimSuffix(name, filepath.Ext(name)), func(r rune) bool {
		return r == '_' || r == '-' || r == ' '
	}), " ")
}

// write stores a batch in one transaction and counts what it did once that is committed.
func (in *ingestion) write(ctx context.Context, batch []prepared) error {
	var counted Report
	err := in.base.update(ctx, func(tx *sql.Tx) error {
		counted = Report{}
		w, err := newWriter(ctx, tx)
		if err != nil {
			return err
		}
		defer w.close()
		for i := range batch {
			if err := w.document(&batch[i], &counted); err != nil {
				return fmt.Errorf("index %s: %w", batch[i].key, err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	in.report.Added += counted.Added
	in.report.Updated += counted.Updated
	in.report.Unchanged += counted.Unchanged
	for _, p := range batch {
		switch {
		case p.stub():
			in.report.Empty++
		case p.err != nil:
			in.report.Skipped = append(in.report.Skipped, Skipped{Document: p.key, Reason: p.err.Error()})
		}
		if _, had := in.known[p.key]; p.err == nil || had && !p.over() {
			in.keep[p.key] = true
		}
		in.progress(p.key)
	}
	return nil
}

// finish removes what is gone from the roots and writes the version.
func (in *ingestion) finish(ctx context.Context) error {
	return in.base.update(ctx, func(tx *sql.Tx) error {
		w, err := newWriter(ctx, tx)
		if err != nil {
			return err
		}
		defer w.close()
		in.report.Removed, err = w.removeAllBut(func(key string) bool {
			return in.keep[key] || slices.ContainsFunc(in.unread, func(p string) bool {
				return key == p || strings.HasPrefix(key, p+"/")
			})
		})
		if err != nil {
			return fmt.Errorf("remove documents: %w", err)
		}
		return writeVersion(ctx, tx, time.Now().UTC())
	})
}
