package knowledge

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"strings"
)

// separator separates the headings of a stored section path.
const separator = "\x1f"

// writer changes documents within one transaction, using prepared statements.
type writer struct {
	tx                                       *sql.Tx
	find, touch, list, place, sign, displace *sql.Stmt
	addDocument, addSection, addPassage      *sql.Stmt
	addWords, addLabel                       *sql.Stmt
	dropWords, dropPassages, dropSections    *sql.Stmt
	dropLabels, dropDocument                 *sql.Stmt
	nextDocument, nextSection, nextPassageID int64
}

func newWriter(ctx context.Context, tx *sql.Tx) (*writer, error) {
	w := &writer{tx: tx}
	for _, s := range []struct {
		to    **sql.Stmt
		query string
	}{
		{&w.find, `SELECT id, size, mtime, hash, 
			coalesce((SELECT value FROM meta WHERE meta.key = 'file/' || id), '') FROM documents WHERE key = ?`},
		{&w.place, `INSERT OR REPLACE INTO meta VALUES ('file/' || ?, ?)`},
		{&w.sign, `INSERT OR REPLACE INTO meta VALUES ('by/' || ?, ?)`},
		{&w.displace, `DELETE FROM meta WHERE key IN ('file/' || ?1, 'by/' || ?1)`},
		{&w.touch, `UPDATE documents SET size = ?, mtime = ? WHERE id = ?`},
		{&w.list, `SELECT id, key FROM documents ORDER BY key`},
		{&w.addDocument, `INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`},
		{&w.addSection, `INSERT INTO sections VALUES (?, ?, ?, ?, ?, ?)`},
		{&w.addPassage, `INSERT INTO passages VALUES (?, ?, ?, ?, ?, ?, ?, ?)`},
		{&w.addWords, `INSERT INTO words(rowid, title, section, text) VALUES (?, ?, ?, ?)`},
		{&w.addLabel, `INSERT INTO labels VALUES (?, ?, ?, ?, ?, ?)`},
		{&w.dropWords, `DELETE FROM words WHERE rowid IN (SELECT id FROM passages WHERE document = ?)`},
		{&w.dropPassages, `DELETE FROM passages WHERE document = ?`},
		{&w.dropSections, `DELETE FROM sections WHERE document = ?`},
		{&w.dropLabels, `DELETE FROM labels WHERE document = ?`},
		{&w.dropDocument, `DELETE FROM documents WHERE id = ?`},
	} {
		var err error
		if *s.to, err = tx.PrepareContext(ctx, s.query); err != nil {
			return nil, err
		}
	}
	err := tx.QueryRowContext(ctx, `SELECT (SELECT coalesce(max(id), 0) + 1 FROM documents),
		(SELECT coalesce(max(id), 0) + 1 FROM sections), (SELECT coalesce(max(id), 0) + 1 FROM passages)`).
		Scan(&w.nextDocument, &w.nextSection, &w.nextPassageID)
	return w, err
}

// document stores p in place of the existing document with its key. It reads the stored state again, because another
// process may have ingested the document in the meantime.
func (w *writer) document(p *prepared, counted *Report) error {
	var old state
	var file string
	err := w.find.QueryRow(p.key).Scan(&old.id, &old.size, &old.mtime, &old.hash, &file)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	had := err == nil
	switch {
	case p.err != nil:
		return nil
	case had && old.hash == p.hash:
		counted.Unchanged++
		if p.path != file && p.path != "" { // the file was moved with its folder
			if _, err := w.place.Exec(old.id, p.path); err != nil {
				return err
			}
		}
		if old.size == p.size && old.mtime == p.modified.UnixNano() {
			return nil
		}
		_, err := w.touch.Exec(p.size, p.modified.UnixNano(), old.id)
		return err
	case p.same: // removed by another process in the meantime; the next ingestion adds it
		return nil
	case had:
		counted.Updated++
		if err := w.remove(old.id); err != nil {
			return err
		}
	default:
		counted.Added++
	}
	return w.add(p)
}

func (w *writer) add(p *prepared) error {
	id := w.nextDocument
	w.nextDocument++
	if _, err := w.addDocument.Exec(id, p.key, p.doc.Title, p.doc.Date, p.size, p.modified.UnixNano(), p.hash,
		len(p.chunks), len(p.doc.Text), p.doc.Text); err != nil {
		return err
	}
	if p.path != "" {
		if _, err := w.place.Exec(id, p.path); err != nil {
			return err
		}
	}
	if by := (Byline{p.doc.Authors, p.doc.Publisher}); by.Publisher != "" || len(by.Authors) > 0 {
		row, err := json.Marshal(by)
		if err != nil {
			return err
		}
		if _, err := w.sign.Exec(id, string(row)); err != nil {
			return err
		}
	}
	first := w.nextSection
	inSection := make([]int, len(p.doc.Sections))
	for _, c := range p.chunks {
		inSection[c.section]++
	}
	for i, s := range p.doc.Sections {
		if _, err := w.addSection.Exec(w.nextSection, id, strings.Join(s.Path, separator), s.Anchor, s.Offset,
			inSection[i]); err != nil {
			return err
		}
		w.nextSection++
	}
	for _, c := range p.chunks {
		if _, err := w.addPassage.Exec(w.nextPassageID, id, first+int64(c.section), c.page, c.offset, len(c.text), c.hash,
			c.text); err != nil {
			return err
		}
		if _, err := w.addWords.Exec(w.nextPassageID, c.words[0], c.words[1], c.words[2]); err != nil {
			return err
		}
		w.nextPassageID++
	}
	for _, l := range p.labels {
		if _, err := w.addLabel.Exec(l.name, l.rank, id, first+int64(l.section), l.offset, l.anchor); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) remove(id int64) error {
	for _, s := range []*sql.Stmt{w.dropWords, w.dropPassages, w.dropSections, w.dropLabels, w.displace, w.dropDocument} {
		if _, err := s.Exec(id); err != nil {
			return err
		}
	}
	return nil
}

// removeAllBut removes the documents for which keep returns false, and returns their number.
func (w *writer) removeAllBut(keep func(key string) bool) (int, error) {
	rows, err := w.list.Query()
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	var gone []int64
	for rows.Next() {
		var id int64
		var key string
		if err := rows.Scan(&id, &key); err != nil {
			return 0, err
		}
		if !keep(key) {
			gone = append(gone, id)
		}
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return 0, err
	}
	for _, id := range gone {
		if err := w.remove(id); err != nil {
			return 0, err
		}
	}
	return len(gone), nil
}

func (w *writer) close() {
	for _, s := range []*sql.Stmt{w.find, w.touch, w.list, w.place, w.sign, w.displace,
		w.addDocument, w.addSection, w.addPassage, w.addWords, w.addLabel,
		w.dropWords, w.dropPassages, w.dropSections, w.dropLabels, w.dropDocument} {
		_ = s.Close()
	}
}
