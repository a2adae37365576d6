-- Generated from migrations/20260301000001_create_outbox_archive.sql; change that file and run go generate.
DO $refuse$
BEGIN
    RAISE EXCEPTION 'satchel has no way down; nothing was changed; now run: migrate force 20260301000001'
        USING ERRCODE = 'feature_not_supported';
END;
$refuse$;
