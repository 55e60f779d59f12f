package knowledge

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"strings"
)

// separator separates the headings of a stored section path.
const separator = "\x1f"

// writer changes documents within one transaction. After an error it does nothing more and keeps the error in err.
type writer struct {
	ctx                                    context.Context
	tx                                     *sql.Tx
	statements                             map[string]*sql.Stmt // prepared, by their text
	nextDocument, nextSection, nextPassage int64
	err                                    error
}

func newWriter(ctx context.Context, tx *sql.Tx) *writer {
	w := &writer{ctx: ctx, tx: tx, statements: map[string]*sql.Stmt{}}
	w.err = tx.QueryRowContext(ctx, `SELECT (SELECT coalesce(max(id), 0) + 1 FROM documents),
		(SELECT coalesce(max(id), 0) + 1 FROM sections), (SELECT coalesce(max(id), 0) + 1 FROM passages)`).
		Scan(&w.nextDocument, &w.nextSection, &w.nextPassage)
	return w
}

// exec runs a statement, which it prepares once. The end of the transaction closes it.
func (w *writer) exec(query string, args ...any) {
	if w.err == nil && w.statements[query] == nil {
		w.statements[query], w.err = w.tx.PrepareContext(w.ctx, query)
	}
	if w.err == nil {
		_, w.err = w.statements[query].Exec(args...)
	}
}

// document stores p in place of the existing document with its key. It reads the stored state again, because another
// process may have ingested the document in the meantime.
func (w *writer) document(p *prepared, counted *Report) {
	var old state
	var file string
	err := w.tx.QueryRowContext(w.ctx, `SELECT id, size, mtime, hash,
		coalesce((SELECT value FROM meta WHERE meta.key = 'file/' || id), '') FROM documents WHERE key = ?`, p.key).
		Scan(&old.id, &old.size, &old.mtime, &old.hash, &file)
	had := err == nil
	switch {
	case err != nil && !errors.Is(err, sql.ErrNoRows):
		w.err = cmp.Or(w.err, err)
	case p.err != nil:
	case had && old.hash == p.hash:
		counted.Unchanged++
		if p.path != file { // the file was moved with its folder
			w.place(old.id, p.path)
		}
		if old.size != p.size || old.mtime != p.modified.UnixNano() {
			w.exec(`UPDATE documents SET size = ?, mtime = ? WHERE id = ?`, p.size, p.modified.UnixNano(), old.id)
		}
	case p.same: // removed by another process in the meantime; the next ingestion adds it
	case had:
		counted.Updated++
		w.remove(old.id)
		w.add(p)
	default:
		counted.Added++
		w.add(p)
	}
}

// place records the path of a document.
func (w *writer) place(id int64, path string) {
	if path != "" {
		w.exec(`INSERT OR REPLACE INTO meta VALUES ('file/' || ?, ?)`, id, path)
	}
}

func (w *writer) add(p *prepared) {
	id, first := w.nextDocument, w.nextSection
	w.nextDocument++
	w.exec(`INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, id, p.key, p.doc.Title, p.doc.Date, p.size,
		p.modified.UnixNano(), p.hash, len(p.chunks), len(p.doc.Text), p.doc.Text)
	w.place(id, p.path)
	if by := (Byline{p.doc.Authors, p.doc.Publisher}); by.Publisher != "" || len(by.Authors) > 0 {
		row, err := json.Marshal(by)
		w.err = cmp.Or(w.err, err)
		w.exec(`INSERT OR REPLACE INTO meta VALUES ('by/' || ?, ?)`, id, string(row))
	}
	inSection := make([]int, len(p.doc.Sections))
	for _, c := range p.chunks {
		inSection[c.section]++
	}
	for i, s := range p.doc.Sections {
		w.exec(`INSERT INTO sections VALUES (?, ?, ?, ?, ?, ?)`, w.nextSection, id, strings.Join(s.Path, separator), s.Anchor,
			s.Offset, inSection[i])
		w.nextSection++
	}
	for _, c := range p.chunks {
		w.exec(`INSERT INTO passages VALUES (?, ?, ?, ?, ?, ?, ?, ?)`, w.nextPassage, id, first+int64(c.section), c.page,
			c.offset, len(c.text), c.hash, c.text)
		w.exec(`INSERT INTO words(rowid, title, section, text) VALUES (?, ?, ?, ?)`, w.nextPassage, c.words[0], c.words[1],
			c.words[2])
		w.nextPassage++
	}
	for _, l := range p.labels {
		w.exec(`INSERT INTO labels VALUES (?, ?, ?, ?, ?, ?)`, l.name, l.rank, id, first+int64(l.section), l.offset, l.anchor)
	}
}

func (w *writer) remove(id int64) {
	w.exec(`DELETE FROM words WHERE rowid IN (SELECT id FROM passages WHERE document = ?)`, id)
	w.exec(`DELETE FROM passages WHERE document = ?`, id)
	w.exec(`DELETE FROM sections WHERE document = ?`, id)
	w.exec(`DELETE FROM labels WHERE document = ?`, id)
	w.exec(`DELETE FROM meta WHERE key IN ('file/' || ?1, 'by/' || ?1)`, id)
	w.exec(`DELETE FROM documents WHERE id = ?`, id)
}

// removeAllBut removes the documents for which keep returns false, and returns their number.
func (w *writer) removeAllBut(keep func(key string) bool) (removed int) {
	all, err := collect(w.ctx, w.tx, func(rows *sql.Rows, s *state) error { return rows.Scan(&s.id, &s.key) },
		`SELECT id, key FROM documents ORDER BY key`)
	w.err = cmp.Or(w.err, err)
	for _, s := range all {
		if !keep(s.key) {
			w.remove(s.id)
			removed++
		}
	}
	return removed
}
