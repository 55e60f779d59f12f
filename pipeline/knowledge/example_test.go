package knowledge_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"nightdesk/pipeline/knowledge"
	"nightdesk/storage"
)

func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	page := "# Cache\n\n## Eviction\n\nThe cache evicts the entry that was used least recently.\n"
	if err := os.WriteFile(filepath.Join(dir, "cache.md"), []byte(page), 0o600); err != nil {
		log.Fatal(err)
	}

	base, err := knowledge.Create(filepath.Join(dir, "docs.sqlite"))
	if err != nil {
		log.Fatal(err)
	}
	defer base.Close()
	report, err := base.Ingest(ctx, []string{dir}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Added, "document")

	found, err := base.Search(ctx, "Which entries are evicted?", 1, knowledge.Hybrid)
	if err != nil {
		log.Fatal(err)
	}
	p := found[0]
	fmt.Printf("%s > %s (%s#%s)\n%s\n", p.Title, strings.Join(p.Section, " > "), p.Document, p.Anchor, p.Text)
	// Output:
	// 1 document
	// Cache > Eviction (cache.md#eviction)
	// The cache evicts the entry that was used least recently.
}

// One machine publishes a base, another fetches it by name and version.
func ExampleFetch() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "page.md"), []byte("The cache evicts entries."), 0o600); err != nil {
		log.Fatal(err)
	}
	base, err := knowledge.Create(filepath.Join(dir, "here", "docs.sqlite"))
	if err != nil {
		log.Fatal(err)
	}
	defer base.Close()
	if _, err := base.Ingest(ctx, []string{filepath.Join(dir, "page.md")}, nil); err != nil {
		log.Fatal(err)
	}
	store := storage.NewDir(filepath.Join(dir, "store"))
	version, err := knowledge.Publish(ctx, base, store)
	if err != nil {
		log.Fatal(err)
	}

	path, err := knowledge.Fetch(ctx, store, filepath.Join(dir, "there"), "docs", version)
	if err != nil {
		log.Fatal(err)
	}
	copied, err := knowledge.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	defer copied.Close()
	info, err := copied.Info(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(info.Name, "has", info.Passages, "passage, as published:", strings.HasPrefix(version, info.Version))
	// Output:
	// docs has 1 passage, as published: true
}
