package io.mortise.verification.log;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.LinkedBlockingQueue;
import org.jspecify.annotations.Nullable;
import org.slf4j.ILoggerFactory;
import org.slf4j.IMarkerFactory;
import org.slf4j.Marker;
import org.slf4j.event.Level;
import org.slf4j.helpers.BasicMarkerFactory;
import org.slf4j.helpers.LegacyAbstractLogger;
import org.slf4j.helpers.MessageFormatter;
import org.slf4j.helpers.NOPMDCAdapter;
import org.slf4j.spi.MDCAdapter;
import org.slf4j.spi.SLF4JServiceProvider;

/**
 * An SLF4J provider that records Mortise's log from INFO on for tests, and drops other lines.
 * Thread-safe.
 */
public final class RecordedLog implements SLF4JServiceProvider {
  /** Simulations log without end; the oldest lines are dropped. */
  private static final int MOST_LINES = 20_000;

  private static final Queue<String> LINES = new LinkedBlockingQueue<>();

  private final IMarkerFactory markers = new BasicMarkerFactory();
  private final MDCAdapter context = new NOPMDCAdapter();

  /** For {@link java.util.ServiceLoader}. */
  public RecordedLog() {}

  /**
   * Returns lines like {@code WARN Engine: text} that contain this text, in order. The tests of a
   * JVM share the log: select the lines of a test by a text unique to its store.
   */
  public static List<String> linesWith(String text) {
    return LINES.stream().filter(line -> line.contains(text)).toList();
  }

  /** Like {@link #linesWith}, limited to lines about the life of sessions. */
  public static List<String> sessionLinesWith(String text) {
    return linesWith(text).stream().filter(line -> line.contains(" SessionLog: ")).toList();
  }

  @Override
  public ILoggerFactory getLoggerFactory() {
    return name -> new RecordingLogger(name, name.startsWith("io.mortise."));
  }

  @Override
  public IMarkerFactory getMarkerFactory() {
    return markers;
  }

  @Override
  public MDCAdapter getMDCAdapter() {
    return context;
  }

  @Override
  public String getRequestedApiVersion() {
    return "2.0.99";
  }

  @Override
  public void initialize() {}

  private static final class RecordingLogger extends LegacyAbstractLogger {
    private static final long serialVersionUID = 1L;

    private final boolean isOurs;

    RecordingLogger(String name, boolean isOurs) {
      this.name = name.substring(name.lastIndexOf('.') + 1);
      this.isOurs = isOurs;
    }

    @Override
    public boolean isTraceEnabled() {
      return false;
    }

    @Override
    public boolean isDebugEnabled() {
      return false;
    }

    @Override
    public boolean isInfoEnabled() {
      return isOurs;
    }

    @Override
    public boolean isWarnEnabled() {
      return isOurs;
    }

    @Override
    public boolean isErrorEnabled() {
      return isOurs;
    }

    @Override
    protected String getFullyQualifiedCallerName() {
      return "";
    }

    @Override
    protected void handleNormalizedLoggingCall(
        Level level,
        @Nullable Marker marker,
        String text,
        @Nullable Object @Nullable [] values,
        @Nullable Throwable failure) {
      if (LINES.size() >= MOST_LINES) {
        LINES.poll();
      }
      LINES.add(
          level
              + " "
              + name
              + ": "
              + MessageFormatter.arrayFormat(text, values, failure).getMessage());
    }
  }
}
