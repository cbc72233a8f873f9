package io.mortise.internal.engine;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
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

/** What the tests of this module log from INFO on, so that they can look at it. */
public final class RecordedLog implements SLF4JServiceProvider {
  private static final Queue<String> LINES = new ConcurrentLinkedQueue<>();

  private final IMarkerFactory markers = new BasicMarkerFactory();
  private final MDCAdapter context = new NOPMDCAdapter();

  /** Lines like {@code WARN Engine: text} that hold this text, of a store of one test, say. */
  static List<String> linesWith(String text) {
    return LINES.stream().filter(line -> line.contains(text)).toList();
  }

  @Override
  public ILoggerFactory getLoggerFactory() {
    return RecordingLogger::new;
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

    RecordingLogger(String name) {
      this.name = name.substring(name.lastIndexOf('.') + 1);
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
      return true;
    }

    @Override
    public boolean isWarnEnabled() {
      return true;
    }

    @Override
    public boolean isErrorEnabled() {
      return true;
    }

    @Override
    protected String getFullyQualifiedCallerName() {
      return "";
    }

    @Override
    protected void handleNormalizedLoggingCall(
        Level level, Marker marker, String text, Object[] values, Throwable failure) {
      LINES.add(
          level
              + " "
              + name
              + ": "
              + MessageFormatter.arrayFormat(text, values, failure).getMessage());
    }
  }
}
