package migrator

import (
	"strings"
	"testing"

	"ariga.io/atlas/sql/migrate"
	"ariga.io/atlas/sql/postgres"
	atlas "ariga.io/atlas/sql/schema"
	"github.com/zclconf/go-cty/cty"

	"github.com/satchel-go/satchel/schema"
)

// The migrations lead to what schema.hcl describes: replayed on an empty database, nothing is left to plan.
func TestReplayMatchesTheHCL(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	dev, err := postgres.Open(newDatabase(t))
	if err != nil {
		t.Fatal(err)
	}
	dir, err := directory(schema.Migrations())
	if err != nil {
		t.Fatal(err)
	}
	executor, err := migrate.NewExecutor(dev, dir, migrate.NopRevisionReadWriter{})
	if err != nil {
		t.Fatal(err)
	}
	scope := &atlas.InspectRealmOption{Schemas: []string{"public"}}
	have, err := executor.Replay(ctx, migrate.RealmConn(dev, scope))
	if err != nil {
		t.Fatal(err)
	}
	// PostgreSQL brings expressions into a form of its own; the development database does that for the HCL.
	normal, err := postgres.Open(newDatabase(t))
	if err != nil {
		t.Fatal(err)
	}
	diff := func(hcl string) []atlas.Change {
		var want atlas.Realm
		if err := postgres.EvalHCLBytes([]byte(hcl), &want, map[string]cty.Value{"schema": cty.StringVal("public")}); err != nil {
			t.Fatal(err)
		}
		normalised, err := normal.(atlas.Normalizer).NormalizeRealm(ctx, &want)
		if err != nil {
			t.Fatal(err)
		}
		changes, err := dev.RealmDiff(have, normalised)
		if err != nil {
			t.Fatal(err)
		}
		return changes
	}
	for _, change := range diff(schema.HCL()) {
		t.Errorf("the HCL still wants %T %+v", change, change)
	}
	// The comparison would notice.
	altered := strings.Replace(schema.HCL(), `where   = "published_at IS NOT NULL"`, `where   = "published_at IS NULL"`, 1)
	if len(diff(altered)) == 0 {
		t.Error("a different predicate was not noticed")
	}
}
