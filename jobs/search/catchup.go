package search

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rs/zerolog"

	"nightdesk/jobs/bundle"
	"nightdesk/storage"
	"nightdesk/topicqueue"
)

// fileOf returns the file name of the index of a storage.
func fileOf(store storage.Store) string {
	sum := sha256.Sum256([]byte(store.Location("")))
	return hex.EncodeToString(sum[:6]) + ".sqlite"
}

// Done is the result of CatchUp.
type Done struct {
	Added   int `json:"indexed"` // runs that were read
	Removed int `json:"removed"`
	Runs    int `json:"runs"` // in the index now
}

const perChange = 50 // runs per transaction

// CatchUp updates the index to match the storage. It lists the reports, reads the runs whose metadata is new or
// changed, and drops deleted runs. progress: nil, or called with the number of runs read.
func (x *Index) CatchUp(ctx context.Context, progress func(done, total int)) (done Done, err error) {
	x.update.Lock()
	defer x.update.Unlock()
	if done, err = x.catchUp(ctx, x.db, progress); err != nil {
		err = x.failed(ctx, "bring the search index up to date", err)
		if ctx.Err() == nil {
			x.note(err.Error())
		}
		return done, err
	}
	x.note("")
	return done, nil
}

func (x *Index) catchUp(ctx context.Context, db *sql.DB, progress func(done, total int)) (done Done, err error) {
	there, err := x.stamps(ctx)
	if err != nil {
		return done, err
	}
	known, err := knownStamps(ctx, db)
	if err != nil {
		return done, err
	}
	var fresh, gone []string
	for id, at := range there {
		if known[id] != at {
			fresh = append(fresh, id)
		}
	}
	for id := range known {
		if _, ok := there[id]; !ok {
			gone = append(gone, id)
		}
	}
	slices.Sort(fresh)
	slices.Reverse(fresh) // newest first
	if done.Removed = len(gone); done.Removed > 0 {
		if err := change(ctx, db, gone, nil); err != nil {
			return done, err
		}
	}
	read := 0
	tell := func() {
		x.note(fmt.Sprintf("%d runs are still being read", len(fresh)-read))
		if progress != nil {
			progress(read, len(fresh))
		}
	}
	for chunk := range slices.Chunk(fresh, perChange) {
		tell()
		docs, err := x.readAll(ctx, chunk, there)
		if err != nil {
			return done, err
		}
		if err := change(ctx, db, nil, docs); err != nil {
			return done, err
		}
		read += len(chunk)
		done.Added += len(docs)
	}
	return done, db.QueryRowContext(ctx, `SELECT count(*) FROM runs`).Scan(&done.Runs)
}

// stamps returns the runs in the storage.
func (x *Index) stamps(ctx context.Context) (map[string]string, error) {
	const folder = "reports/"
	list, err := x.store.ListStats(ctx, folder)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, l := range list {
		id := strings.TrimPrefix(strings.TrimSuffix(l.Key, "_metadata.json"), folder)
		if l.Key == storage.MetadataKey(id) {
			out[id] = fmt.Sprintf("%d %d", l.Size, l.Stored.UnixNano())
		}
	}
	return out, nil
}

func knownStamps(ctx context.Context, db *sql.DB) (map[string]string, error) {
	rows, err := db.QueryContext(ctx, `SELECT run, stamp FROM runs`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	known := map[string]string{}
	for rows.Next() {
		var id, at string
		if err := rows.Scan(&id, &at); err != nil {
			return nil, err
		}
		known[id] = at
	}
	return known, rows.Err()
}

// document holds the indexed data of a run.
type document struct {
	run    topicqueue.Run
	stamp  string
	title  string
	report []string
	claims []claim
}

// claim is a claim of a run.
type claim struct {
	Citation string `json:"c"`
	Source   string `json:"s"`
	Text     string `json:"t"`
	Quote    string `json:"q,omitempty"` // empty: same as the text
}

// readAll reads several runs. A run that is being published is omitted; the next CatchUp finds it again.
func (x *Index) readAll(ctx context.Context, ids []string, there map[string]string) ([]document, error) {
	docs := make([]document, len(ids))
	err := storage.Each(ctx, len(ids), func(ctx context.Context, i int) error {
		id := ids[i]
		doc, err := x.read(ctx, id, there[id])
		if err != nil && (errors.Is(err, storage.ErrAway) || ctx.Err() != nil) {
			return err
		}
		if err != nil { // reading it again would give the same error
			zerolog.Ctx(ctx).Warn().Err(err).Str("run", id).Msg("run cannot be found by search: its files are damaged")
			doc = document{run: topicqueue.Run{ID: id}, stamp: there[id]}
		}
		docs[i] = doc
		return nil
	})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(docs, func(d document) bool { return d.run.ID == "" }), nil
}

// read reads a run. The document is empty while its bundle is not complete.
func (x *Index) read(ctx context.Context, id string, at string) (document, error) {
	run, err := bundle.ReadRun(ctx, x.store, id)
	if errors.Is(err, bundle.ErrNoBundle) {
		return document{}, nil
	}
	if err != nil {
		return document{}, err
	}
	report, err := bundle.Report(ctx, x.store, id)
	if err != nil && !errors.Is(err, storage.ErrNotExist) {
		return document{}, err
	}
	doc := document{run: run, stamp: at, title: report.Title, report: report.Lines()}
	doc.run.ID = id
	doc.claims, err = x.readClaims(ctx, id)
	return doc, err
}

func (x *Index) readClaims(ctx context.Context, id string) (claims []claim, err error) {
	listed, err := bundle.ListedClaims(ctx, x.store, id)
	for _, c := range listed {
		kept := claim{Citation: c.CitationID, Source: c.SourceID, Text: topicqueue.OneLine(c.Text)}
		if quote := topicqueue.OneLine(c.Quote); quote != kept.Text {
			kept.Quote = quote
		}
		claims = append(claims, kept)
	}
	return claims, err
}

// change removes runs from the index and stores others, in one transaction.
func change(ctx context.Context, db *sql.DB, gone []string, docs []document) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to undo
	for _, id := range gone {
		if err := remove(ctx, tx, id); err != nil {
			return err
		}
	}
	for _, doc := range docs {
		if err := remove(ctx, tx, doc.run.ID); err != nil {
			return err
		}
		if err := store(ctx, tx, doc); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func remove(ctx context.Context, tx *sql.Tx, id string) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM words WHERE rowid IN (SELECT id FROM runs WHERE run = ?)`, id)
	if err == nil {
		_, err = tx.ExecContext(ctx, `DELETE FROM runs WHERE run = ?`, id)
	}
	return err
}

func store(ctx context.Context, tx *sql.Tx, doc document) error {
	run := doc.run
	claims, err := json.Marshal(doc.claims)
	if err != nil {
		return err
	}
	ended := int64(0)
	if at := cmp.Or(run.EndedAt, run.CreatedAt); !at.IsZero() {
		ended = at.UnixMilli()
	}
	added, err := tx.ExecContext(ctx, `INSERT INTO runs(run, stamp, batch, topic, ref, tags, state, ended, claims)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`, run.ID, doc.stamp, run.Batch, topicqueue.OneLine(run.Topic), run.Ref,
		strings.Join(run.Tags, "\n"), string(run.State), ended, string(claims))
	if err != nil {
		return err
	}
	id, err := added.LastInsertId()
	if err != nil {
		return err
	}
	var said, quotes []string
	for _, c := range doc.claims {
		said, quotes = append(said, c.Text), append(quotes, c.Quote)
	}
	slices.Sort(quotes) // several claims may share one
	_, err = tx.ExecContext(ctx, `INSERT INTO words(rowid, topic, report, claims) VALUES (?, ?, ?, ?)`, id,
		indexed(strings.Join(append([]string{run.Topic, doc.title, run.Ref, run.Batch}, run.Tags...), "\n")),
		indexed(strings.Join(doc.report, "\n")), indexed(strings.Join(append(said, slices.Compact(quotes)...), "\n")))
	return err
}
