package io.mortise.testkit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A test whose steps have to follow each other within a TTL, or another time that the store keeps.
 *
 * <p>If this process or the store paused during a failed run, the failure is inconclusive: the
 * pause is printed, and the test is set up and run again. A failure without a pause counts, and so
 * does the third in a row.
 *
 * <p>Not for tests of properties that must survive pauses, such as exclusion under load.
 */
@Documented
@Target({ElementType.METHOD, ElementType.TYPE})
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(RerunIfPausedExtension.class)
@SuppressWarnings("exports") // the extension stays hidden from users
public @interface RerunIfPaused {
  /** The total pause, in milliseconds, from which a failure does not count. */
  long millis() default 150;

  /** A test class that knows of further pauses than those of this process and its store. */
  interface PauseSource {
    /** All pauses so far, in milliseconds. */
    long lostMillis();
  }
}
