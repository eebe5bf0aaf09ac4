package sweep

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"synthetic/internal/study/runfile"
	"synthetic/internal/turnlog"
)

// MergeDirectories merges the results of a sweep's shards into a new or empty directory, as one
// process would have written them: run.json and the turns. After an error the directory is
// empty.
func MergeDirectories(dirs []string, output string) (*runfile.Run, error) {
	if err := checkEmpty(output); err != nil {
		return nil, err
	}
	var parts []shardRun
	for _, dir := range dirs {
		p, err := readPart(dir)
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	whole, err := mergeRuns(parts)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(output, 0o755); err != nil {
		return nil, fmt.Errorf("--output.dir: %w", err)
	}
	turns := filepath.Join(output, runfile.TurnsFile)
	err = mergeTurnLogs(turns, parts, whole)
	if err == nil {
		err = runfile.Write(filepath.Join(output, "run.json"), whole)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(turns))
	}
	return whole, nil
}

func checkEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("--output.dir: %w", err)
	case len(entries) > 0:
		return fmt.Errorf("--output.dir: %s is not empty (%q); name a new directory", dir, entries[0].Name())
	}
	return nil
}

// readPart reads the run of a directory, or a run.json.
func readPart(dir string) (shardRun, error) {
	if filepath.Base(dir) == "run.json" {
		dir = filepath.Dir(dir)
	}
	path := filepath.Join(dir, "run.json")
	data, err := os.ReadFile(path)
	if err != nil {
		return shardRun{}, fmt.Errorf("reading a shard: %w; a sweep writes it at its end", err)
	}
	run, err := runfile.Parse(data)
	if err != nil {
		return shardRun{}, fmt.Errorf("%s: %w", path, err)
	}
	return shardRun{dir, run}, nil
}

// mergeTurnLogs writes the turns of all parts to a new file.
func mergeTurnLogs(path string, parts []shardRun, whole *runfile.Run) (err error) {
	var logs []*shardLog
	for _, p := range parts {
		from := filepath.Join(p.Dir, runfile.TurnsFile)
		file, err := os.Open(from)
		if err != nil {
			return fmt.Errorf("the turns of %s: %w; a sweep writes them beside its run.json", p.Run.Shard, err)
		}
		defer file.Close()
		r, err := turnlog.NewReader(from, file)
		if err != nil {
			return err
		}
		defer r.Close()
		logs = append(logs, &shardLog{shardRun: p, Next: r.NextLine})
	}
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("--output.dir: %w", err)
	}
	defer func() { err = errors.Join(err, file.Sync(), file.Close()) }()
	pack, err := turnlog.Compress(file)
	if err != nil {
		return err
	}
	return errors.Join(mergeTurns(pack, logs, whole), pack.Close())
}
