package knowledge

import (
	"context"
	"database/sql"
	"fmt"
)

// loadVectors reads all vectors and their state in one transaction, so that they are consistent.
func loadVectors(ctx context.Context, db *sql.DB) (*vectorIndex, error) {
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback() }() // nothing was written
	x := &vectorIndex{}
	var n int
	err = tx.QueryRowContext(ctx, `SELECT (SELECT value FROM meta WHERE key = 'vectors'),
		(SELECT value FROM meta WHERE key = 'embedding_model'),
		(SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'embedding_dimensions'), (SELECT count(*) FROM embedded)`).
		Scan(&x.state, &x.model, &x.dimensions, &n)
	if err != nil || n == 0 {
		return x, err
	}
	x.ids, x.scales = make([]int64, 0, n), make([]float32, 0, n)
	x.values = make([]int8, 0, n*x.dimensions)
	rows, err := tx.QueryContext(ctx,
		`SELECT e.passage, v.scale, v.vector FROM embedded e JOIN vectors v ON v.id = e.vector ORDER BY e.passage`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var raw sql.RawBytes
	for rows.Next() {
		var id int64
		var scale float32
		if err := rows.Scan(&id, &scale, &raw); err != nil {
			return nil, err
		}
		if len(raw) != x.dimensions {
			return nil, fmt.Errorf("the vector of passage %d has %d dimensions instead of %d; embed the passages again "+
				"(`nightdesk kb add --reembed`)", id, len(raw), x.dimensions)
		}
		x.ids, x.scales = append(x.ids, id), append(x.scales, scale)
		for _, b := range raw {
			x.values = append(x.values, int8(b))
		}
	}
	return x, rows.Err()
}
