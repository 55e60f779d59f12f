package knowledge

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
)

// checkVectors validates the result of an Embedder for n texts. dimensions is 0 if all vectors are nil.
func checkVectors(vectors [][]float32, n int) (dimensions int, err error) {
	if len(vectors) != n {
		return 0, fmt.Errorf("%d vectors for %d texts", len(vectors), n)
	}
	for _, v := range vectors {
		if v == nil {
			continue
		}
		if dimensions == 0 {
			dimensions = len(v)
		}
		if len(v) != dimensions || dimensions == 0 {
			return 0, fmt.Errorf("vectors of %d and of %d dimensions", dimensions, len(v))
		}
		if !finite(v) {
			return 0, errors.New("a vector contains a value that is not a number")
		}
	}
	return dimensions, nil
}

// knownKeys returns the keys of those inputs whose text already has a vector.
func knownKeys(ctx context.Context, q querier, batch []input) (map[[sha256.Size]byte]bool, error) {
	args := make([]any, len(batch))
	for i := range batch {
		args[i] = batch[i].key[:]
	}
	keys, err := collect(ctx, q, column[[]byte], `SELECT key FROM vectors WHERE key `+among(len(args)), args...)
	out := map[[sha256.Size]byte]bool{}
	for _, key := range keys {
		var k [sha256.Size]byte
		copy(k[:], key)
		out[k] = true
	}
	return out, err
}

// storeVectors writes vectors and assigns them to their passages. It skips passages that another process has changed
// since they were read, and fails if another process has embedded the base with another model.
func (b *meanings) storeVectors(ctx context.Context, tx *sql.Tx, batch []input, made map[[sha256.Size]byte]packed,
	dimensions int) error {
	state, err := readEmbedding(ctx, tx)
	if err != nil {
		return err
	}
	switch {
	case state.Model != "" && state.Model != b.embedder.Model():
		return b.otherModel(state)
	case dimensions > 0 && state.Dimensions > 0 && dimensions != state.Dimensions:
		return fmt.Errorf("%w: those of %s have %d dimensions, %s now makes some of %d; embed the passages again "+
			"(`nightdesk kb add --reembed`)",
			ErrModel, b.path, state.Dimensions, b.embedder.Model(), dimensions)
	case dimensions > 0 && state.Dimensions == 0:
		if _, err := tx.ExecContext(ctx, `UPDATE meta SET value = ? WHERE key = 'embedding_model'`,
			b.embedder.Model()); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `UPDATE meta SET value = ? WHERE key = 'embedding_dimensions'`,
			strconv.Itoa(dimensions)); err != nil {
			return err
		}
	}
	ids := make([]any, len(batch))
	for i := range batch {
		ids[i] = batch[i].id
	}
	now, err := inputs(ctx, tx, inputColumns+` WHERE p.id `+among(len(ids)), ids...)
	if err != nil {
		return err
	}
	unchanged := map[int64][sha256.Size]byte{}
	for _, i := range now {
		unchanged[i.id] = i.key
	}
	add, err := tx.PrepareContext(ctx, `INSERT OR IGNORE INTO vectors(key, scale, vector) VALUES (?, ?, ?)`)
	if err != nil {
		return err
	}
	defer add.Close()
	give, err := tx.PrepareContext(ctx, `INSERT OR REPLACE INTO embedded SELECT ?, id FROM vectors WHERE key = ?`)
	if err != nil {
		return err
	}
	defer give.Close()
	for _, i := range batch {
		if unchanged[i.id] != i.key {
			continue
		}
		if v, ok := made[i.key]; ok {
			if _, err := add.ExecContext(ctx, i.key[:], v.scale, v.bytes()); err != nil {
				return err
			}
		}
		if _, err := give.ExecContext(ctx, i.id, i.key[:]); err != nil {
			return err
		}
	}
	_, err = tx.ExecContext(ctx, newVectorState)
	return err
}
