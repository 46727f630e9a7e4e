package php

import "testing"

func TestFilesThatAreRead(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]bool{
		"server.php": true, "src/OrderService.php": true, "composer.json": true,
		"OrderTest.php": false, "views/a.blade.php": false, "_ide_helper.php": false, "_ide_helper_models.php": false,
		"a.txt": false,
	} {
		if got := required(file); got != want {
			t.Errorf("%s is read: %t", file, got)
		}
	}
}
