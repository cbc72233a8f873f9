package io.mortise.spring.boot;

import java.time.Duration;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The settings of an application's lock client; {@code spring-configuration-metadata.json}
 * describes them.
 *
 * @param url of the store; null to use a bean
 * @param storeBean which bean to use; {@code mortise.store} would be the tool's {@code
 *     MORTISE_STORE}
 * @param namespace of a store over a bean; null for that store's default
 * @param ttl of the session; null for the default
 * @param clientName the name shown to people; null for the application's name
 * @param jdbc of a store over a data source
 * @param console the console that the application serves
 */
@ConfigurationProperties("mortise")
record MortiseProperties(
    @Nullable String url,
    @DefaultValue("auto") StoreKind storeBean,
    @Nullable String namespace,
    @Nullable Duration ttl,
    @Nullable String clientName,
    @DefaultValue JdbcProperties jdbc,
    @DefaultValue ConsoleProperties console) {
  /** The characters that each of the stores accepts. */
  private static final Pattern NAMESPACE = Pattern.compile("[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}");

  /** Treats blank text, as of an empty environment variable, as none. */
  MortiseProperties {
    url = url == null || url.isBlank() ? null : url;
    namespace = namespace == null || namespace.isBlank() ? null : namespace;
    if (namespace != null && !NAMESPACE.matcher(namespace).matches()) {
      throw new IllegalArgumentException(
          "mortise.namespace '"
              + namespace
              + "' is not 1 to 64 letters, digits, '.', '_' or '-' without a dot in front.");
    }
  }

  /** The bean that the store is opened over. */
  enum StoreKind {
    /** The only one. */
    AUTO,
    /** The data source. */
    JDBC,
    /** The Lettuce connection factory. */
    REDIS,
    /** The Curator client. */
    ZOOKEEPER;

    /** The value in properties. */
    String text() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * Settings of the console.
   *
   * @param enabled whether it is served
   * @param path its root
   * @param role of users who may inspect
   * @param anonymous whether all other users may inspect
   * @param allow actions that are permitted besides
   * @param allowRole of users who may perform them, in addition to the other; null for no further
   * @param budget the share of the store's time that inspection may take
   * @param historyFile keeps the history; null to keep it in memory only
   */
  record ConsoleProperties(
      @DefaultValue("false") boolean enabled,
      @DefaultValue("/mortise") String path,
      @DefaultValue("ADMIN") String role,
      @DefaultValue("false") boolean anonymous,
      @DefaultValue Set<Action> allow,
      @Nullable String allowRole,
      @DefaultValue("0.01") double budget,
      @Nullable String historyFile) {
    /** As in servlets: every user who is signed in. */
    static final String EVERY_USER = "**";

    private static final Pattern PATH = Pattern.compile("(/[A-Za-z0-9._~-]+)+");

    ConsoleProperties {
      allow = Set.copyOf(allow);
      allowRole = allowRole == null || allowRole.isBlank() ? null : allowRole;
      historyFile = historyFile == null || historyFile.isBlank() ? null : historyFile;
      if (!PATH.matcher(path).matches()) {
        throw new IllegalArgumentException(
            "mortise.console.path '" + path + "' is no path like /mortise.");
      }
      if (role.isBlank()) {
        throw new IllegalArgumentException(
            "mortise.console.role is empty. For everybody who is signed in set it to '**'.");
      }
      if (!(budget > 0 && budget <= 1)) {
        throw new IllegalArgumentException(
            "mortise.console.budget has to be above 0 and at most 1.");
      }
    }

    /** Actions that can be permitted, besides inspection. */
    enum Action {
      /** Ask a holder to release; end a wait. */
      CLOSE,
      /** Free a lock at once. */
      BREAK,
      /** Open a lock that is kept shut. */
      OPEN
    }
  }

  /**
   * Settings of a store over a data source.
   *
   * @param parameters as behind a URL's question mark
   */
  record JdbcProperties(@DefaultValue("") String parameters) {}
}
