package wiring_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"github.com/satchel-go/satchel/adapters-delayedjob/delayedjob"
	"github.com/satchel-go/satchel/adapters-http/webhook"
	"github.com/satchel-go/satchel/adapters-kafka/kafka"
	"github.com/satchel-go/satchel/adapters-service/service"
	"github.com/satchel-go/satchel/core/config"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/outbox"

	"github.com/satchel-go/satchel/wiring"
	"github.com/satchel-go/satchel/wiring/everything"
	"github.com/satchel-go/satchel/wiring/internal/testdb"
	"github.com/satchel-go/satchel/wiring/jobonly"
	"github.com/satchel-go/satchel/wiring/kafkaonly"
	"github.com/satchel-go/satchel/wiring/migrationonly"
	"github.com/satchel-go/satchel/wiring/serviceonly"
)

// nobody is an address at which nothing answers.
const nobody = "127.0.0.1:1"

var (
	greet   = service.MustOperation[string]("greeting.greet")
	lateJob = delayedjob.MustJob[string]("greeting.late", delayedjob.Defaults{})
)

// running runs an application for the time of a test.
func running(t *testing.T, app *wiring.App) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- app.Run(ctx) }()
	return func() {
		t.Helper()
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("run: %v", err)
			}
		case <-time.After(testdb.Patience):
			t.Fatal("the application does not end")
		}
	}
}

// publish commits entries.
func publish(t *testing.T, rt wiring.Runtime, entries ...outbox.Entry) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testdb.Patience)
	defer cancel()
	err := pgx.BeginFunc(ctx, rt.Pool, func(tx pgx.Tx) error {
		_, err := rt.Publisher.PublishAll(ctx, tx, entries...)
		return err
	})
	if err != nil {
		t.Fatalf("publish: %v", err)
	}
}

// eventually waits until a query has an answer.
func eventually(t *testing.T, rt wiring.Runtime, query, want string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testdb.Patience)
	defer cancel()
	got := ""
	for got != want {
		if err := rt.Pool.QueryRow(ctx, query).Scan(&got); err != nil {
			t.Fatalf("%s: %v; last %q, want %q", query, err, got, want)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// Two relays of one process deliver, under a mapped schema, and what is being delivered
// when the application is told to stop is finished and recorded before the pool closes.
func TestServiceOnly(t *testing.T) {
	t.Parallel()
	tree := config.Default()
	tree.DB.Schemas.InboxOutbox = "messaging"
	tree.InboxOutbox.Relay.Instances = 2
	address := testdb.New(t, tree)

	registry := service.NewRegistry()
	begun, goOn := make(chan string, 2), make(chan struct{})
	_ = service.Handle(registry, greet, func(_ context.Context, name string) error {
		begun <- name
		<-goOn
		return nil
	}, service.HandlerOptions{})
	rt, cleanup, err := serviceonly.New(tree, wiring.Inputs{Database: wiring.Database{URL: address}}, registry, service.Config{})
	if err != nil {
		t.Fatal(err)
	}
	stop := running(t, rt.App)
	eventually(t, *rt, "SELECT count(DISTINCT owner)::text FROM messaging.outbox_relay", "2")
	publish(t, *rt, greet.Entry("Ada"))
	<-begun
	time.AfterFunc(50*time.Millisecond, func() { close(goOn) })
	stop()
	eventually(t, *rt, "SELECT state FROM messaging.outbox", "PUBLISHED")
	eventually(t, *rt, "SELECT count(*)::text FROM messaging.outbox_relay", "0")
	cleanup()
	if err := rt.App.Run(t.Context()); !errors.Is(err, wiring.ErrClosed) {
		t.Errorf("a run after the cleanup: %v", err)
	}
}

// Functions and webhooks are served although neither Kafka nor Redis answers.
func TestEverything(t *testing.T) {
	t.Parallel()
	tree := config.Default()
	address := testdb.Empty(t)
	hooks := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { hooks <- r.Header.Get("acme-event-type") }))
	defer server.Close()
	endpoints, err := webhook.NewRegistry(webhook.Endpoint{
		ID: "billing", URL: server.URL, Secrets: []webhook.Secret{webhook.NewSecret()}, AllowInsecure: true, AllowPrivate: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	services := service.NewRegistry()
	greeted := make(chan string, 1)
	_ = service.Handle(services, greet, func(_ context.Context, name string) error {
		greeted <- name
		return nil
	}, service.HandlerOptions{})
	rt, cleanup, err := everything.New(tree, wiring.Inputs{Database: wiring.Database{URL: address}, ReservedPrefix: "acme-"}, everything.Destinations{
		Kafka: brokenKafka(), Jobs: brokenRedis(t), Services: services, Webhook: webhook.Config{Source: endpoints},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer cleanup()
	if err := rt.Migration.Apply(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := rt.Migration.Verify(t.Context()); err != nil {
		t.Fatal(err)
	}
	stop := running(t, rt.App)
	defer stop()
	err = pgx.BeginFunc(t.Context(), rt.Pool, func(tx pgx.Tx) error {
		_, err := delayedjob.Publish(t.Context(), rt.Jobs, tx, lateJob, "Alan")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	publish(t, rt.Runtime,
		outbox.Entry{DestinationType: destination.Kafka, Destination: "greetings", EventType: "greeted", Payload: 1},
		outbox.Entry{DestinationType: destination.HTTP, Destination: "billing", EventType: "greeted", Payload: 1},
		greet.Entry("Ada"),
	)
	if name := <-greeted; name != "Ada" {
		t.Errorf("greeted %q", name)
	}
	if eventType := <-hooks; eventType != "greeted" {
		t.Errorf("the hook got the event type %q under the reserved prefix", eventType)
	}
	eventually(t, rt.Runtime, "SELECT count(*)::text FROM outbox WHERE state = 'PUBLISHED'", "2")
	eventually(t, rt.Runtime, "SELECT string_agg(destination_type, ' ' ORDER BY destination_type) FROM outbox WHERE last_error IS NOT NULL AND attempt = 0", "DELAYED_JOB KAFKA")
}

func brokenKafka() kafka.Config {
	settings := kafka.DefaultSaramaConfig()
	settings.Metadata.Retry.Max = 0
	settings.Net.DialTimeout = time.Second
	settings.Producer.Transaction.Retry.Max = 1
	settings.Producer.Transaction.Retry.BackoffFunc = func(int, int) time.Duration { return time.Millisecond }
	return kafka.Config{Connection: kafka.Connection{Brokers: []string{nobody}}, Sarama: settings}
}

func brokenRedis(t *testing.T) delayedjob.Config {
	t.Helper()
	options := delayedjob.FailFast(redis.Options{Addr: nobody})
	client := redis.NewClient(&options)
	t.Cleanup(func() { _ = client.Close() })
	registry, err := delayedjob.NewRegistry(lateJob.ID())
	if err != nil {
		t.Fatal(err)
	}
	return delayedjob.Config{Client: client, Registry: registry}
}

// Injectors connect to nothing, and each destination can do without the others.
func TestOneDestination(t *testing.T) {
	t.Parallel()
	in := wiring.Inputs{Database: wiring.Database{URL: "postgres://" + nobody + "/nowhere"}}
	k, cleanup, err := kafkaonly.New(config.Default(), in, brokenKafka())
	if err != nil || k.App == nil {
		t.Fatalf("kafka: %v", err)
	}
	cleanup()
	j, cleanup, err := jobonly.New(config.Default(), in, brokenRedis(t), delayedjob.Overrides{lateJob.ID(): {Queue: "slow"}})
	if err != nil || j.Jobs == nil {
		t.Fatalf("jobs: %v", err)
	}
	// Without a database it runs, and waits for one.
	stop := running(t, j.App)
	time.Sleep(20 * time.Millisecond)
	stop()
	cleanup()
}

// Every mistake is an error of the injector, before anything runs.
func TestMistakesAreFoundAtStart(t *testing.T) {
	t.Parallel()
	in := wiring.Inputs{Database: wiring.Database{URL: "postgres://" + nobody + "/nowhere"}}
	badCron, badSchema := config.Default(), config.Default()
	badCron.Cron.Jobs.OutboxCleanup.Cron = "every day"
	badSchema.DB.Schemas.InboxOutbox = "a.b"
	for _, c := range []struct {
		name, field string
		build       func() (any, func(), error)
	}{
		{"an empty tree", "inboxOutbox.relay.strategy", func() (any, func(), error) { return kafkaonly.New(config.Tree{}, in, brokenKafka()) }},
		{"a schedule", "cron.jobs.outbox-cleanup.cron", func() (any, func(), error) { return kafkaonly.New(badCron, in, brokenKafka()) }},
		{"a schema", "db.schemas.inbox-outbox", func() (any, func(), error) { return migrationonly.New(badSchema, in) }},
		{"no database", "database URL", func() (any, func(), error) {
			return migrationonly.New(config.Default(), wiring.Inputs{})
		}},
		{"no brokers", "kafka brokers", func() (any, func(), error) { return kafkaonly.New(config.Default(), in, kafka.Config{}) }},
		{"no registry", "service registry", func() (any, func(), error) {
			return serviceonly.New(config.Default(), in, nil, service.Config{})
		}},
		{"a prefix", "kafka reserved prefix", func() (any, func(), error) {
			cfg := brokenKafka()
			cfg.Names.ReservedPrefix = "other-"
			return kafkaonly.New(config.Default(), in, cfg)
		}},
	} {
		_, cleanup, err := c.build()
		var invalid *fault.Invalid
		if !errors.As(err, &invalid) || invalid.Field != c.field || cleanup != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// What an injector lacks is reported where code is generated, and names the missing type.
func TestMissingPieceFailsAtGeneration(t *testing.T) {
	t.Parallel()
	for folder, want := range map[string]string{
		"incomplete": "no provider found for github.com/satchel-go/satchel/adapters-kafka/kafka.Config",
		"nohandlers": "no provider found for []github.com/satchel-go/satchel/core/delivery.Handler",
	} {
		out, err := exec.CommandContext(t.Context(), "go", "tool", "wire", "check", "./testdata/"+folder).CombinedOutput()
		var failed *exec.ExitError
		if !errors.As(err, &failed) || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v: %s", folder, err, out)
		}
	}
}

// An injector's program holds the code of its own destination and of no other.
func TestProgramsHoldWhatTheyImport(t *testing.T) {
	t.Parallel()
	const sarama, asynq, atlas, webhooks = "github.com/IBM/sarama", "github.com/hibiken/asynq", "ariga.io/atlas", "github.com/satchel-go/satchel/adapters-http"
	for folder, wanted := range map[string]string{
		"kafkaonly": sarama, "serviceonly": "", "jobonly": asynq, "migrationonly": atlas,
	} {
		out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "./"+folder).Output()
		if err != nil {
			t.Fatalf("%s: %v", folder, err)
		}
		for _, path := range []string{sarama, asynq, atlas, webhooks} {
			if has := strings.Contains(string(out), path); has != (path == wanted) {
				t.Errorf("%s holds %s: %v", folder, path, has)
			}
		}
	}
}
