-- A task whose caller has been asked which skill it wants belongs to none yet.
ALTER TABLE tasks ALTER COLUMN skill DROP NOT NULL;
