package migrator

import (
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ariga.io/atlas/sql/postgres"
	atlas "ariga.io/atlas/sql/schema"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/satchel-go/satchel/schema"
)

const repository = "../../"

// project is atlas.hcl, evaluated as far as that is possible without the command line: with the defaults of its variables.
type project struct {
	context   *hcl.EvalContext
	variables []string
	envs      map[string]*hclsyntax.Body
	sources   map[string]*hclsyntax.Body // data "hcl_schema", by name
}

func readProject(t *testing.T) project {
	t.Helper()
	text, err := os.ReadFile(repository + "atlas.hcl")
	if err != nil {
		t.Fatal(err)
	}
	file, problems := hclsyntax.ParseConfig(text, "atlas.hcl", hcl.InitialPos)
	if problems.HasErrors() {
		t.Fatal(problems)
	}
	p := project{envs: map[string]*hclsyntax.Body{}, sources: map[string]*hclsyntax.Body{}}
	variables, locals := map[string]cty.Value{}, map[string]cty.Value{}
	for _, block := range file.Body.(*hclsyntax.Body).Blocks {
		switch block.Type {
		case "variable":
			p.variables = append(p.variables, block.Labels[0])
			// The urls come from getenv(), which only the command line has.
			if v, problems := block.Body.Attributes["default"].Expr.Value(nil); !problems.HasErrors() {
				variables[block.Labels[0]] = v
			}
		case "locals":
			for name, attribute := range block.Body.Attributes {
				locals[name] = evaluate(t, attribute.Expr, nil)
			}
		case "env":
			p.envs[block.Labels[0]] = block.Body
		case "data":
			p.sources[block.Labels[1]] = block.Body
		}
	}
	p.context = &hcl.EvalContext{Variables: map[string]cty.Value{"var": cty.ObjectVal(variables), "local": cty.ObjectVal(locals)}}
	return p
}

func evaluate(t *testing.T, expression hcl.Expression, context *hcl.EvalContext) cty.Value {
	t.Helper()
	v, problems := expression.Value(context)
	if problems.HasErrors() {
		t.Fatal(problems)
	}
	return v
}

// at returns the value at a path of blocks that ends in an attribute, or cty.NilVal.
func (p project) at(t *testing.T, body *hclsyntax.Body, names ...string) cty.Value {
	t.Helper()
	for _, name := range names[:len(names)-1] {
		i := slices.IndexFunc(body.Blocks, func(b *hclsyntax.Block) bool { return b.Type == name })
		if i < 0 {
			return cty.NilVal
		}
		body = body.Blocks[i].Body
	}
	attribute := body.Attributes[names[len(names)-1]]
	if attribute == nil {
		return cty.NilVal
	}
	return evaluate(t, attribute.Expr, p.context)
}

func (p project) list(t *testing.T, body *hclsyntax.Body, name string) (all []string) {
	t.Helper()
	v := p.at(t, body, name)
	if v == cty.NilVal {
		return nil
	}
	for _, element := range v.AsValueSlice() {
		all = append(all, element.AsString())
	}
	return all
}

// Every environment names its schemas, drops no schema and no table, and the paths in the file exist.
func TestProjectFileIsCareful(t *testing.T) {
	t.Parallel()
	p := readProject(t)
	for _, name := range []string{"local", "ci", "mapped"} {
		env := p.envs[name]
		if env == nil {
			t.Fatalf("no environment %s", name)
		}
		if schemas := p.list(t, env, "schemas"); len(schemas) != 1 {
			t.Errorf("%s: schemas %q, want one", name, schemas)
		}
		// A table that schema.hcl does not know is the application's.
		for _, drop := range []string{"drop_schema", "drop_table"} {
			if v := p.at(t, env, "diff", "skip", drop); v == cty.NilVal || !v.True() {
				t.Errorf("%s does not skip %s", name, drop)
			}
		}
		for _, table := range []string{"*." + RevisionsTable, "*.atlas_schema_revisions"} {
			if !slices.Contains(p.list(t, env, "exclude"), table) {
				t.Errorf("%s does not exclude %s", name, table)
			}
		}
		// Without a development database Atlas plans changes that are none.
		for _, attribute := range []string{"url", "dev", "src"} {
			if env.Attributes[attribute] == nil {
				t.Errorf("%s has no %s", name, attribute)
			}
		}
		if v := p.at(t, env, "migration", "dir"); v == cty.NilVal || !exists(v.AsString()) {
			t.Errorf("%s: no folder of migrations", name)
		}
		// A record in a schema of its own would be a schema to drop.
		if v := p.at(t, env, "migration", "revisions_schema"); v == cty.NilVal || v.AsString() != p.list(t, env, "schemas")[0] {
			t.Errorf("%s keeps its record elsewhere", name)
		}
	}
	for name, source := range p.sources {
		if v := p.at(t, source, "path"); v == cty.NilVal || !exists(v.AsString()) {
			t.Errorf("data %s: no file", name)
		}
	}
}

// exists reports whether a path or file:// url, relative to the repository, leads somewhere.
func exists(file string) bool {
	_, err := os.Stat(path.Join(repository, strings.TrimPrefix(file, "file://")))
	return err == nil
}

// What the document tells to type can be typed: the verb is one of the open edition, and all that it names exists.
func TestDocumentedAtlasCommands(t *testing.T) {
	t.Parallel()
	p := readProject(t)
	open := []string{"migrate apply", "migrate status", "migrate diff", "migrate lint", "migrate hash", "migrate validate", "migrate set", "schema apply", "schema diff", "schema inspect"}
	seen := map[string]bool{}
	for _, document := range []string{"docs/migration.md", "schema/README.md"} {
		text, err := os.ReadFile(repository + document)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
			for _, line := range regexp.MustCompile(`(?m)^atlas .*$`).FindAllString(block[1], -1) {
				words := strings.Fields(strings.Split(line, " #")[0])
				verb := strings.Join(words[1:3], " ")
				if !slices.Contains(open, verb) {
					t.Errorf("%s: %q is not in the open edition", document, line)
				}
				env := ""
				for i, word := range words[:len(words)-1] {
					switch word {
					case "--env":
						env = words[i+1]
					case "--var":
						if name, _, _ := strings.Cut(words[i+1], "="); !slices.Contains(p.variables, name) {
							t.Errorf("%s: %q sets an unknown variable", document, line)
						}
					}
				}
				// Only an environment carries the settings that keep Atlas from dropping things.
				if p.envs[env] == nil {
					t.Errorf("%s: %q names no environment of atlas.hcl", document, line)
				}
				for _, file := range regexp.MustCompile(`file://[^\s"']+`).FindAllString(line, -1) {
					if !exists(file) {
						t.Errorf("%s: %q names %s, which does not exist", document, line, file)
					}
				}
				seen[verb+" "+env] = true
			}
		}
	}
	for _, env := range []string{"local", "ci", "mapped"} {
		for _, verb := range []string{"migrate apply", "migrate lint", "schema apply", "migrate diff"} {
			if !seen[verb+" "+env] {
				t.Errorf("no command line for atlas %s --env %s", verb, env)
			}
		}
	}
}

// For each environment: `atlas schema apply` on migrated tables would find nothing to do.
func TestSchemaApplyWouldDoNothing(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	p := readProject(t)
	for name, env := range p.envs {
		target := p.list(t, env, "schemas")[0]
		db := newDatabase(t)
		apply(t, db, Config{Schema: target})
		execSQL(t, db, `CREATE TABLE `+quoteName(target)+`.atlas_schema_revisions (version text)`)
		execSQL(t, db, `SELECT `+quoteName(target)+`.outbox_archive_maintain(2, 7)`) // day partitions
		drv, err := postgres.Open(db)
		if err != nil {
			t.Fatal(err)
		}
		have, err := drv.InspectRealm(ctx, &atlas.InspectRealmOption{Schemas: []string{target}, Exclude: p.list(t, env, "exclude")})
		if err != nil {
			t.Fatal(err)
		}
		var desired atlas.Realm
		if err := postgres.EvalHCLBytes([]byte(schema.HCL()), &desired, map[string]cty.Value{"schema": cty.StringVal(target)}); err != nil {
			t.Fatal(err)
		}
		dev, err := postgres.Open(newDatabase(t))
		if err != nil {
			t.Fatal(err)
		}
		want, err := dev.(atlas.Normalizer).NormalizeRealm(ctx, &desired)
		if err != nil {
			t.Fatal(err)
		}
		changes, err := drv.RealmDiff(have, want)
		if err != nil {
			t.Fatal(err)
		}
		for _, change := range changes {
			t.Errorf("%s: %T %+v", name, change, change)
		}
	}
}
