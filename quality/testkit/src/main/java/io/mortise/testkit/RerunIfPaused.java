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
 * <p>If such a test fails, and this process or the store stood still while it ran, that says
 * nothing: the test is prepared and run again, and the pause is printed. Without a pause a failure
 * is one, and so is the last of three in a row.
 *
 * <p>Not for tests of what must hold through pauses too, such as exclusion under load.
 */
@Documented
@Target({ElementType.METHOD, ElementType.TYPE})
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(RerunIfPausedExtension.class)
@SuppressWarnings("exports") // nobody has to name what does it
public @interface RerunIfPaused {
  /** How many milliseconds have to be lost, taken together, for a failure not to count. */
  long millis() default 150;

  /** A test class that knows of more that stood still than this process and its store. */
  interface PauseSource {
    /** All pauses so far, in milliseconds. */
    long lostMillis();
  }
}
