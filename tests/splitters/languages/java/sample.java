package pantry;

import java.util.ArrayList;
import java.util.List;

/** A shelf of jars. class Fake { is text here. */
@SuppressWarnings("unchecked")
public class Shelf<T extends Shelf.Jar> implements Iterable<T> {
    private static final int LIMIT = 12;
    private final List<T> jars = new ArrayList<>();

    /** How large a jar is. */
    public enum Size {
        SMALL,
        LARGE {
            @Override
            int litres() {
                return 2;
            }
        };

        int litres() {
            return 1;
        }
    }

    public interface Jar {
        String label();

        default boolean empty() {
            return label().isEmpty();
        }
    }

    record Plum(String label, double grams) implements Jar {
        Plum {
            if (grams < 0) throw new IllegalArgumentException("void fake() {");
        }
    }

    @interface Fragile {
        int value() default 1;
    }

    public Shelf() {
    }

    // Adds one.
    @Override
    @Deprecated
    public synchronized <J extends T> boolean add(J jar) {
        Runnable log = new Runnable() {
            @Override
            public void run() {
                System.out.println("""
                    class NotHere {
                    """);
            }
        };
        log.run();
        return jars.size() < LIMIT && jars.add(jar);
    }

    @Override
    public java.util.Iterator<T> iterator() {
        return jars.iterator();
    }
}

class Hidden {
    static int count(Shelf<?> shelf) { return 0; }
}
