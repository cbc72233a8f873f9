package io.mortise.memcached;

import io.mortise.spi.time.DurationText;
import java.io.IOException;
import java.time.Duration;

/** The server's clock cannot be judged by an answer that took so long. The next may be faster. */
final class SlowAnswerException extends IOException {
  private static final long serialVersionUID = 1L;

  SlowAnswerException(Duration took, Duration longest) {
    super(
        "An answer took %s. To read the server's clock by it, it must come within %s. Look at the load of the server and of this host."
            .formatted(DurationText.format(took), DurationText.format(longest)));
  }
}
