package storage_test

import (
	"context"
	"fmt"
	"os"

	"nightdesk/storage"
)

func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	var s storage.Store = storage.NewDir(dir) // or storage.NewS3
	if err := storage.Check(ctx, s); err != nil {
		panic(err)
	}
	for _, text := range []string{"the first", "the second"} {
		created, err := s.PutNew(ctx, "batches/monday/digest.md", []byte(text))
		fmt.Println(created, err)
	}
	body, err := s.Get(ctx, "batches/monday/digest.md")
	fmt.Println(string(body), err)
	// Output:
	// true <nil>
	// false <nil>
	// the first <nil>
}
