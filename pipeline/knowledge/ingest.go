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

// Limits of a batch: the documents that are extracted together and written in one transaction.
const (
	batchFiles = 64
	batchBytes = 16 << 20
)

// ErrEmpty reports that no document below the roots could be read. The base is left unchanged.
var ErrEmpty = errors.New("no readable document")

// Report summarizes an ingestion.
type Report struct {
	Added     int       `json:"added"`
	Updated   int       `json:"updated"`
	Unchanged int       `json:"unchanged"`
	Removed   int       `json:"removed"`
	Empty     int       `json:"empty"`   // Markdown and text files without text, such as stubs
	Skipped   []Skipped `json:"skipped"` // other files that could not be read, sorted by key
	Stubs     []Skipped `json:"-"`       // the files that Empty counts
}

// Skipped is a file that did not become a document.
type Skipped struct {
	Document string `json:"document"` // its key
	Reason   string `json:"reason"`   // in words, for the user
}

// Ingest makes the base hold exactly the documents below roots, which are directories, files or web addresses. Only
// files changed since the last ingestion are extracted again. progress may be nil; it is called after each file, from
// one goroutine at a time, with done counting up to total.
//
// A file that cannot be read is reported in Skipped and its previous content is kept. The same applies to a web page
// that is now empty or replaced by a notice. A page that no longer exists (404, 410, or a text that says so) is
// removed. The error is ErrEmpty or context.Cause(ctx), or comes from the file system or SQLite. Work is committed in
// batches: after an error or a kill the base is consistent, and the next Ingest continues from there. If two processes
// ingest, the second waits for each batch of the first.
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

// nothing returns an error that explains why there is no document below roots.
func nothing(roots []string, r Report) error {
	skipped := r.Skipped
	if len(skipped) == 1 && IsURL(skipped[0].Document) {
		return fmt.Errorf("%w: %s: %s", ErrEmpty, skipped[0].Document, skipped[0].Reason)
	}
	shown := slices.Clone(roots)
	for i, root := range shown {
		if IsURL(root) {
			shown[i], _ = PageKey(root) // gather has already parsed it
		}
	}
	return fmt.Errorf("%w below %s: looked for %s, found %d other files",
		ErrEmpty, strings.Join(shown, ", "), extract.Readable, len(skipped)+r.Empty)
}

// state is the stored state of a document's file.
type state struct {
	id    int64
	key   string
	size  int64
	mtime int64
	hash  string
}

func (b *Base) known(ctx context.Context) (map[string]state, error) {
	all, err := collect(ctx, b.read, func(rows *sql.Rows, s *state) error {
		return rows.Scan(&s.key, &s.id, &s.size, &s.mtime, &s.hash)
	}, `SELECT key, id, size, mtime, hash FROM documents`)
	if err != nil {
		return nil, fmt.Errorf("read the list of documents: %w", err)
	}
	out := make(map[string]state, len(all))
	for _, s := range all {
		out[s.key] = s
	}
	return out, nil
}

// ingestion is the state of one Ingest call. Only the writing goroutine may use its fields.
type ingestion struct {
	base     *Base
	known    map[string]state
	report   Report
	keep     map[string]bool // keys that the base holds after the ingestion
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
	path   string // absolute path of the file; empty for a page
	same   bool   // size and time, or the content, are those of the last ingestion
	read   bool   // the content was read, so err is about the content
}

// over reports whether an unusable document also discards its previous content. This applies to files whose content is
// unusable and to removed pages, but not to other failures of a web page, which may be temporary.
func (p prepared) over() bool {
	return errors.Is(p.err, extract.ErrNoPage) || p.read && p.address == ""
}

// stub reports whether p is a plain-text file without text. Files of other types, such as scans, may contain text that
// extraction does not find, and a web page without text is a failure.
func (p prepared) stub() bool {
	kind, _ := extract.TypeOf(p.name)
	return p.address == "" && errors.Is(p.err, extract.ErrEmpty) &&
		(kind == extract.TypeMarkdown || kind == extract.TypeText)
}

type prepareChunk struct {
	chunk
	hash  string
	words [3]string // title, section and text for the word index
}

// run extracts each batch while the previous one is being written.
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
	_ = group.Wait() // the functions return no errors, because a broken file is recorded in prepared
	return out
}

func (b *Base) prepareFile(ctx context.Context, f source, old state) prepared {
	p := prepared{source: f}
	if f.address == "" {
		p.path, _ = filepath.Abs(f.file) // fails without a working directory; the document can still be read
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
	if p.address != "" {
		p.doc, p.err = extract.Sent(ctx, p.name, p.contentType, data)
	} else {
		p.doc, p.err = extract.File(ctx, p.name, data)
	}
	if p.err != nil {
		return p
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

// content returns the content of the file or the downloaded page.
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

// readFile reads a file and rejects it if it is larger than maxFile, because it may have grown since it was listed.
func readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("too large: the limit is %d MB", maxFile>>20)
	}
	return data, err
}

func titleFromName(name string) string {
	return strings.Join(strings.FieldsFunc(strings.TrimSuffix(name, filepath.Ext(name)), func(r rune) bool {
		return r == '_' || r == '-' || r == ' '
	}), " ")
}

// write stores a batch in one transaction and updates the report after the commit.
func (in *ingestion) write(ctx context.Context, batch []prepared) error {
	var counted Report
	err := in.base.update(ctx, func(tx *sql.Tx) error {
		counted = Report{}
		w := newWriter(ctx, tx)
		for i := range batch {
			if w.document(&batch[i], &counted); w.err != nil {
				return fmt.Errorf("index %s: %w", batch[i].key, w.err)
			}
		}
		return w.err
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
			in.report.Stubs = append(in.report.Stubs, Skipped{p.key, "there is no text in it"})
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

// finish removes documents that are no longer below the roots and writes the version.
func (in *ingestion) finish(ctx context.Context) error {
	return in.base.update(ctx, func(tx *sql.Tx) error {
		w := newWriter(ctx, tx)
		in.report.Removed = w.removeAllBut(func(key string) bool {
			return in.keep[key] || slices.ContainsFunc(in.unread, func(p string) bool {
				return key == p || strings.HasPrefix(key, p+"/")
			})
		})
		if w.err != nil {
			return fmt.Errorf("remove documents: %w", w.err)
		}
		return writeVersion(ctx, tx, time.Now().UTC())
	})
}
