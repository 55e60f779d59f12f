package knowledge

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"
)

// embedBatch is the number of passages embedded and stored together, and thus the most work lost to an error or a kill.
const embedBatch = 16

// embedCandidates is the number of first candidates of a search by words whose vectors are made at once if they have
// none yet. A base can thus be searched by meaning before all of its passages have vectors.
const embedCandidates = 30

// embedFirst makes the vectors of candidates that have none, best first.
func (b *meanings) embedFirst(ctx context.Context, candidates []hit) error {
	if len(candidates) == 0 {
		return nil
	}
	args := make([]any, len(candidates))
	order := make(map[int64]int, len(candidates))
	for i, c := range candidates {
		args[i], order[c.id] = c.id, i
	}
	there, err := hasVectors(ctx, b.read)
	if err != nil {
		return err
	}
	without := ""
	if there {
		without = ` AND NOT EXISTS (SELECT 1 FROM embedded WHERE passage = p.id)`
	}
	batch, err := inputs(ctx, b.read, inputColumns+` WHERE p.id `+among(len(args))+without, args...)
	if err != nil || len(batch) == 0 {
		return err
	}
	slices.SortFunc(batch, func(a, b input) int { return cmp.Compare(order[a.id], order[b.id]) })
	if err := b.update(ctx, func(tx *sql.Tx) error { return b.prepareVectors(ctx, tx, false) }); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, queryTime)
	defer cancel()
	for some := range slices.Chunk(batch, 2*runtime.GOMAXPROCS(0)) {
		if err := b.embedBatch(ctx, some); err != nil {
			return err
		}
	}
	return nil
}

// Embed computes vectors for the passages without one, using the model set by SetEmbedder; without a model it does
// nothing. Call it after Ingest: only new and changed texts are sent to the model. progress may be nil; it receives the
// number of passages done and the total.
//
// If again is true, Embed first deletes all vectors. Otherwise, vectors of another model cause an ErrModel.
//
// The returned state is valid even with an error. After any error (of the model or SQLite, or context.Cause(ctx)),
// completed batches are kept, the base remains searchable, and the next Embed continues from there.
func (b *meanings) Embed(ctx context.Context, again bool, progress func(done, total int)) (Embedding, error) {
	if b.embedder == nil {
		return b.state(ctx)
	}
	if progress == nil {
		progress = func(int, int) {}
	}
	err := b.embed(ctx, again, progress)
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	state, stateErr := b.state(context.WithoutCancel(ctx)) // takes a few milliseconds, and the caller reports the state
	return state, errors.Join(err, stateErr)
}

func (b *meanings) embed(ctx context.Context, again bool, progress func(done, total int)) error {
	if err := b.update(ctx, func(tx *sql.Tx) error { return b.prepareVectors(ctx, tx, again) }); err != nil {
		return fmt.Errorf("prepare %s for vectors: %w", b.path, err)
	}
	state, err := readEmbedding(ctx, b.read)
	if err != nil {
		return fmt.Errorf("embed the passages of %s: %w", b.path, err)
	}
	done, total := 0, state.Missing
	for last := int64(0); ; {
		batch, err := missing(ctx, b.read, last)
		if err != nil {
			return fmt.Errorf("list passages without a vector in %s: %w", b.path, err)
		}
		if len(batch) == 0 {
			break
		}
		last = batch[len(batch)-1].id
		if err := b.embedBatch(ctx, batch); err != nil {
			return fmt.Errorf("embed the passages of %s: %w", b.path, err)
		}
		done += len(batch)
		progress(min(done, total), total)
	}
	return b.update(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM vectors WHERE id NOT IN (SELECT vector FROM embedded)`)
		return errors.Join(err, writeVersion(ctx, tx, time.Now().UTC()))
	})
}

// prepareVectors creates the tables and checks that existing vectors were made with the current model.
func (b *meanings) prepareVectors(ctx context.Context, tx *sql.Tx, again bool) error {
	if _, err := tx.ExecContext(ctx, vectorSchema); err != nil {
		return err
	}
	state, err := readEmbedding(ctx, tx)
	if err != nil {
		return err
	}
	if !again {
		if state.Model != "" && state.Model != b.embedder.Model() {
			return b.otherModel(state)
		}
		return nil
	}
	_, err = tx.ExecContext(ctx, `DELETE FROM embedded; DELETE FROM vectors; `+newVectorState+`;
		UPDATE meta SET value = '' WHERE key = 'embedding_model';
		UPDATE meta SET value = '0' WHERE key = 'embedding_dimensions'`)
	return err
}

func (b *meanings) otherModel(state Embedding) error {
	return fmt.Errorf("%w: those of %s are of %s and the model in use is %s; embed the passages again with it "+
		"(`nightdesk kb add --reembed`) or set EMBEDDING_MODEL back",
		ErrModel, b.path, state.Model, b.embedder.Model())
}

// input is a passage as it is sent to the embedding model.
type input struct {
	id   int64
	key  [sha256.Size]byte // of text
	text string
}

const inputColumns = `p.id, d.title, s.path, p.text FROM passages p
	JOIN documents d ON d.id = p.document JOIN sections s ON s.id = p.section`

// missing returns the next passages without a vector whose ids are greater than after, at most embedBatch of them.
func missing(ctx context.Context, q querier, after int64) ([]input, error) {
	return inputs(ctx, q, inputColumns+` WHERE p.id > ? AND NOT EXISTS (SELECT 1 FROM embedded WHERE passage = p.id)
		ORDER BY p.id LIMIT ?`, after, embedBatch)
}

// inputs reads passages. It puts title and headings before the text, because often only they name the subject.
func inputs(ctx context.Context, q querier, query string, args ...any) ([]input, error) {
	return collect(ctx, q, func(rows *sql.Rows, i *input) error {
		var title, path, text string
		err := rows.Scan(&i.id, &title, &path, &text)
		i.text = strings.Join(append([]string{title}, splitPath(path)...), " > ") + "\n\n" + text
		i.key = sha256.Sum256([]byte(i.text))
		return err
	}, "SELECT "+query, args...)
}

// embedBatch computes and stores the vectors of a batch. Texts that already have a vector are not sent to the model.
func (b *meanings) embedBatch(ctx context.Context, batch []input) error {
	known, err := knownKeys(ctx, b.read, batch)
	if err != nil {
		return err
	}
	var texts []string
	var wanted [][sha256.Size]byte
	for _, i := range batch {
		if !known[i.key] {
			known[i.key] = true
			texts, wanted = append(texts, i.text), append(wanted, i.key)
		}
	}
	made := map[[sha256.Size]byte]packed{}
	dimensions := 0
	if len(texts) > 0 {
		vectors, err := b.embedder.Embed(ctx, texts)
		if err != nil {
			return err
		}
		if dimensions, err = checkVectors(vectors, len(texts)); err != nil {
			return fmt.Errorf("%s: %w", b.embedder.Model(), err)
		}
		for i, v := range vectors {
			if v != nil {
				made[wanted[i]] = pack(v)
			}
		}
	}
	return b.update(ctx, func(tx *sql.Tx) error { return b.storeVectors(ctx, tx, batch, made, dimensions) })
}
