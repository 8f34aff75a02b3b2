/* A shelf of jars. int fake(void) { } is text here. */
#include <stdio.h>
#include <stdlib.h>

#define LIMIT 12
#define MAX(a, b) \
	((a) > (b) ? (a) : (b))

struct shelf;

/* One jar. */
struct jar {
	const char *label;
	double grams;
	int (*open)(struct jar *self);
};

typedef struct {
	struct jar *jars;
	size_t count;
} shelf_t;

typedef int (*visitor)(struct jar *, void *);

enum size { SMALL, LARGE };

union value {
	int number;
	char *text;
};

static int count_jars(const shelf_t *shelf);
extern void shelf_free(shelf_t *shelf), *shelf_more(void);

static const char *const names[] = {
	"int main(void) {",
	"}",
};

/**
 * Finds a jar by its label.
 */
struct jar *find_jar(shelf_t *shelf,
		     const char *label)
{
	for (size_t i = 0; i < shelf->count; i++) {
		if (shelf->jars[i].label == label)
			return &shelf->jars[i];
	}
	return NULL;
}

static int count_jars(const shelf_t *shelf)
{
	int local(void);
	return (int)shelf->count;
}

#ifdef DEBUG
static void dump(shelf_t *shelf)
{
	printf("void fake() { %d\n", count_jars(shelf));
}
#endif

int (*chosen(int deep))(struct jar *)
{
	return deep ? 0 : 0;
}

int main(int argc, char **argv)
{
	shelf_t shelf = { 0 };
	return find_jar(&shelf, argv[argc - 1]) != NULL;
}
