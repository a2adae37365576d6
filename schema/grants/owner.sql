-- For the role that applies migrations, by an administrator, once. It owns what it makes and needs no other right.
CREATE SCHEMA messaging AUTHORIZATION app_owner;
