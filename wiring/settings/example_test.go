package settings_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/satchel-go/satchel/wiring/settings"
)

func ExampleLoad() {
	tree, err := settings.Load(settings.Sources{
		Environ: []string{"SATCHEL__INBOXOUTBOX__RELAY__BATCHSIZE=200", "SATCHEL__DB__SCHEMAS__INBOX_OUTBOX=messaging"},
	})
	fmt.Println(tree.Relay().BatchSize, tree.DB.Schemas.InboxOutbox, err)

	_, err = settings.Load(settings.Sources{Environ: []string{"SATCHEL__INBOXOUTBOX__RELAY__BATCH_SIZE=200"}})
	fmt.Println(err)
	// Output:
	// 200 messaging <nil>
	// environment: satchel: inboxOutbox.relay.batch_size is not a known key; did you mean inboxOutbox.relay.batchSize?
}

// Flags win over the environment, and the environment over files. A file may have sections of
// the application.
func ExampleLoad_order() {
	folder, err := os.MkdirTemp("", "settings")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "service.yaml")
	text := `
server: {port: 8080}
inboxOutbox:
  relay: {batchSize: 100, concurrency: 100, prefetch: 100}
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	flags := flag.NewFlagSet("service", flag.ContinueOnError)
	settings.RegisterFlags(flags)
	if err := flags.Parse([]string{"-inboxOutbox.relay.prefetch=300"}); err != nil {
		fmt.Println(err)
		return
	}

	tree, err := settings.Load(settings.Sources{
		Files:   []string{file},
		Foreign: []string{"server"},
		Environ: []string{"SATCHEL__INBOXOUTBOX__RELAY__CONCURRENCY=200", "SATCHEL__INBOXOUTBOX__RELAY__PREFETCH=200"},
		Flags:   flags,
	})
	relay := tree.Relay()
	fmt.Println(relay.BatchSize, relay.Concurrency, relay.Prefetch, err)
	// Output: 100 200 300 <nil>
}

// Each flag is named like its key; only those that are given count.
func ExampleRegisterFlags() {
	flags := flag.NewFlagSet("service", flag.ContinueOnError)
	settings.RegisterFlags(flags)
	f := flags.Lookup("inboxOutbox.relay.batchSize")
	fmt.Println(f.DefValue, f.Usage)
	// Output: 50 `number`; also SATCHEL__INBOXOUTBOX__RELAY__BATCHSIZE
}

// A problem tells which source to look at, and never what it holds.
func ExampleSourceError() {
	_, err := settings.Load(settings.Sources{Environ: []string{"SATCHEL__INBOXOUTBOX__RELAY__STRATEGY=hunter2"}})
	var problem *settings.SourceError
	fmt.Println(errors.As(err, &problem), problem.Source)
	fmt.Println(problem.Err)
	// Output:
	// true environment
	// satchel: inboxOutbox.relay.strategy is not one of LISTEN_NOTIFY, POLLING
}

func ExampleEnvName() {
	fmt.Println(settings.EnvName("cron.jobs.outbox-cleanup.cron"))
	// Output: SATCHEL__CRON__JOBS__OUTBOX_CLEANUP__CRON
}
