package knowledge

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"
)

// contentVersion returns a hash over all keys and contents, the embedding model and the passages without a vector. The
// same documents with the same model yield the same version, regardless of where and in which order they were ingested.
func contentVersion(ctx context.Context, q querier) (string, error) {
	documents, err := texts(ctx, q, `SELECT key || char(0) || hash FROM documents`)
	if err != nil {
		return "", err
	}
	lines := append([]string{fmt.Sprintf("format %d", format)}, documents...)
	state, err := readEmbedding(ctx, q)
	if err != nil {
		return "", err
	}
	if state.Model != "" {
		without, err := texts(ctx, q,
			`SELECT DISTINCT hash FROM passages p WHERE NOT EXISTS (SELECT 1 FROM embedded WHERE passage = p.id)`)
		if err != nil {
			return "", err
		}
		lines = append(lines, fmt.Sprintf("vectors %s %d", state.Model, state.Dimensions))
		lines = append(lines, without...)
	}
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:8]), nil
}

// texts returns the sorted results of a query for one text column.
func texts(ctx context.Context, q querier, query string) ([]string, error) {
	rows, err := q.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		out = append(out, text)
	}
	slices.Sort(out)
	return out, rows.Err()
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
