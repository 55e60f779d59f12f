package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"nightdesk/cmd/nightdesk/bases"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/pipeline/knowledge"
)

func kbCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{Use: "kb", Short: "Knowledge bases: your documents, indexed", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	var name string
	var reembed bool
	add := &cobra.Command{
		Use: "add PATH|URL...", Short: "Index files, directories and web pages; later calls read only what changed",
		Args: cobra.MinimumNArgs(1),
		RunE: p.command(func(ctx context.Context, s *session, args []string) error {
			if name == "" {
				name = knowledge.Name(args[0])
			}
			return kbAdd(ctx, s.Console, newBases(s), name, args, reembed)
		}),
	}
	add.Flags().StringVar(&name, "name", "", "name of the knowledge base (default: made from the first path)")
	add.Flags().BoolVar(&reembed, "reembed", false, "recompute all vectors, for another embedding model")
	var mode string
	var limit int
	search := &cobra.Command{
		Use: "search NAME QUERY...", Short: "Search a knowledge base", Args: cobra.MinimumNArgs(2),
		RunE: p.command(func(ctx context.Context, s *session, args []string) error {
			query := strings.Join(args[1:], " ")
			found, err := newBases(s).Search(ctx, args[0], query, mode, limit)
			if err != nil {
				return err
			}
			return printPassages(s.Console, query, found)
		}),
	}
	search.Flags().StringVar(&mode, "mode", "hybrid", "hybrid, naive or item")
	search.Flags().IntVar(&limit, "limit", 5, "passages to show")
	cmd.AddCommand(add, search,
		&cobra.Command{Use: "list", Short: "List the knowledge bases", Args: cobra.NoArgs, RunE: p.command(kbList)},
		&cobra.Command{Use: "show NAME", Short: "Show the documents of a knowledge base", Args: cobra.ExactArgs(1),
			RunE: p.command(kbShow)},
		&cobra.Command{Use: "remove NAME", Short: "Delete a knowledge base", Args: cobra.ExactArgs(1),
			RunE: p.command(func(ctx context.Context, s *session, args []string) error {
				return newBases(s).Remove(ctx, args[0])
			})},
	)
	return cmd
}

func kbAdd(ctx context.Context, con *view.Console, b *bases.Bases, name string, paths []string, reembed bool) error {
	rep, err := b.Ingest(ctx, name, paths)
	for i, s := range rep.Skipped {
		if errors.Is(err, knowledge.ErrEmpty) && bases.SoleURL(rep) {
			break
		}
		if i == 20 {
			con.Say("%d more were skipped; --json lists them all", len(rep.Skipped)-i)
			break
		}
		con.Say("skipped %s: %s", s.Document, s.Reason)
	}
	if err == nil {
		err = b.Embed(ctx, name, reembed)
	}
	if err == nil {
		err = b.Share(ctx, name)
	}
	if err != nil {
		return err
	}
	info, err := b.Info(ctx, name)
	if err != nil {
		return err
	}
	document := struct {
		knowledge.Info
		Report knowledge.Report `json:"report"`
	}{info, rep}
	return con.Result(document, "%s: %s, %s (%d added, %d updated, %d unchanged, %d removed, %d skipped)\n",
		name, view.Counted(info.Documents, "document"), view.Counted(info.Passages, "passage"),
		rep.Added, rep.Updated, rep.Unchanged, rep.Removed, len(rep.Skipped))
}

func kbList(ctx context.Context, s *session, _ []string) error {
	list, err := newBases(s).List(ctx)
	if err != nil {
		return err
	}
	table := view.NewTable(s.Console, "NAME", "DOCUMENTS", "PASSAGES", "VERSION", "UPDATED")
	for _, info := range list.Bases {
		if err := table.Row(info, info.Name, info.Documents, info.Passages, fmt.Sprintf("%.12s", info.Version),
			info.Updated.Format("2006-01-02 15:04")); err != nil {
			return err
		}
	}
	if err := table.End(); err != nil || len(list.Broken) == 0 {
		return err
	}
	return view.Ended(errors.New(strings.Join(list.Broken, "\n")), view.ExitPartial)
}

func kbShow(ctx context.Context, s *session, args []string) error {
	documents, err := newBases(s).Documents(ctx, args[0])
	if err != nil {
		return err
	}
	table := view.NewTable(s.Console, "DOCUMENT", "PASSAGES", "BYTES", "DATE", "TITLE", "BY")
	for _, d := range documents {
		if err := table.Row(d, d.Key, d.Passages, d.Bytes, d.Date, d.Title, d.By()); err != nil {
			return err
		}
	}
	return table.End()
}

func printPassages(con *view.Console, query string, found knowledge.Answer) error {
	if found.Degraded != nil {
		con.Say("searched by words only: %v", found.Degraded)
	}
	for i, p := range found.Passages {
		place := strings.Join(append([]string{p.Title}, p.Section...), " > ")
		about := p.Document
		for _, known := range []string{p.By(), p.Date} {
			if known != "" {
				about += ", " + known
			}
		}
		if err := con.Row(p, "%d. %s\n   %s\n\n%s\n\n", i+1, place, about, p.Text); err != nil {
			return err
		}
	}
	if len(found.Passages) == 0 {
		con.Say("nothing was found for %q", query)
	}
	return nil
}
