-- Generated from migrations/20260201000005_build_published_index.sql; change that file and run go generate.
DO $refuse$
BEGIN
    RAISE EXCEPTION 'satchel has no way down; nothing was changed; now run: migrate force 20260201000005'
        USING ERRCODE = 'feature_not_supported';
END;
$refuse$;
