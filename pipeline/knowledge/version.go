package knowledge

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
)

// contentVersion returns a hash over all keys and contents, the embedding model and the passages without a vector. The
// same documents with the same model yield the same version, regardless of where and in which order they were ingested.
func contentVersion(ctx context.Context, q querier) (string, error) {
	documents, err := collect(ctx, q, column[string], `SELECT key || char(0) || hash FROM documents ORDER BY 1`)
	if err != nil {
		return "", err
	}
	lines := append([]string{fmt.Sprintf("format %d", format)}, documents...)
	state, err := readEmbedding(ctx, q)
	if err != nil {
		return "", err
	}
	if state.Model != "" {
		without, err := collect(ctx, q, column[string], `SELECT DISTINCT hash FROM passages p
			WHERE NOT EXISTS (SELECT 1 FROM embedded WHERE passage = p.id) ORDER BY 1`)
		if err != nil {
			return "", err
		}
		lines = append(lines, fmt.Sprintf("vectors %s %d", state.Model, state.Dimensions))
		lines = append(lines, without...)
	}
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:8]), nil
}

// writeVersion stores the version and, if it has changed, the time.
func writeVersion(ctx context.Context, tx *sql.Tx, now time.Time) error {
	version, err := contentVersion(ctx, tx)
	if err != nil {
		return err
	}
	if _, err = tx.ExecContext(ctx,
		`UPDATE meta SET value = ? WHERE key = 'updated' AND (SELECT value FROM meta WHERE key = 'version') <> ?`,
		now.Format(time.RFC3339), version); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `UPDATE meta SET value = ? WHERE key = 'version'`, version)
	return err
}
