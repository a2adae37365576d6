-- One text for all objects of schema $1, but for the records of the tools.
WITH relation AS (
    SELECT c.* FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = $1 AND c.relname !~ '^(satchel_revisions|goose_db_version|schema_migrations|satchel_goose|satchel_schema|orders|refunds)'
), line (kind, name, text) AS (
    SELECT 'relation', relname::text, concat_ws(' ', relkind, relpersistence, relispartition, reloptions::text, relacl::text,
           (SELECT t.reloptions::text FROM pg_class t WHERE t.oid = r.reltoastrelid))
      FROM relation r
    UNION ALL
    SELECT 'column', r.relname || '.' || a.attname,
           concat_ws(' ', a.attnum, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity, a.attstorage, pg_get_expr(d.adbin, d.adrelid))
      FROM relation r JOIN pg_attribute a ON a.attrelid = r.oid AND a.attnum > 0 AND r.relkind IN ('r', 'p')
      LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
    UNION ALL
    SELECT 'constraint', r.relname || '.' || c.conname, pg_get_constraintdef(c.oid) || ' ' || c.convalidated
      FROM relation r JOIN pg_constraint c ON c.conrelid = r.oid
    UNION ALL
    SELECT 'index', i.indexrelid::regclass::text, pg_get_indexdef(i.indexrelid) || ' ' || i.indisvalid
      FROM relation r JOIN pg_index i ON i.indrelid = r.oid
    UNION ALL
    SELECT 'trigger', r.relname || '.' || t.tgname, pg_get_triggerdef(t.oid) || ' ' || t.tgenabled::text
      FROM relation r JOIN pg_trigger t ON t.tgrelid = r.oid AND NOT t.tgisinternal
    UNION ALL
    SELECT 'function', p.oid::regprocedure::text, pg_get_functiondef(p.oid) || ' ' || COALESCE(p.proacl::text, '')
      FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = $1
)
SELECT string_agg(concat_ws(E'\t', kind, name, text), E'\n' ORDER BY kind, name) FROM line
