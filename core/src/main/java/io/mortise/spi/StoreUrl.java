package io.mortise.spi;

import io.mortise.spi.time.DurationText;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The address of a store: {@code scheme:rest?name=value&…}. The part after the last question mark
 * is Mortise's own and never reaches a driver. May hold a password: {@link #toString()} does not
 * show it.
 */
public final class StoreUrl {
  /**
   * Greedy: a password may hold an unescaped slash, question mark or at sign, and hiding too much
   * does no harm.
   */
  private static final Pattern USER_INFO = Pattern.compile("(//[^/@:]*):.*@");

  /** User info without a colon: some servers read it as a password. */
  private static final Pattern LONE_USER_INFO = Pattern.compile("//[^:?]*@");

  /** As above, with the slashes left out. A path, as SQLite has it, begins with a slash. */
  private static final Pattern USER_INFO_WITHOUT_SLASHES =
      Pattern.compile("^((?:jdbc:)?+[a-z][a-z0-9+.-]*+:[^/@:]+:)(?![/\\\\]).*@");

  /** As above, with one slash left, or with the store's name left out too. */
  private static final Pattern USER_INFO_AT_ONCE =
      Pattern.compile("^([a-z][a-z0-9+.-]*+:/(?!/)[^/@:]*:|[^/@:?]*:(?=[^/@:?]+@)).*@");

  /** Up to the next ampersand: a value may hold an unescaped semicolon. */
  private static final Pattern SECRET_VALUE =
      Pattern.compile("(?i)([?&;:,/][\\w.-]*(?:password|passwd|pwd|secret|token)=)[^&]*");

  /** The mark that {@link #redact} and the command-line tool put in place of a secret. */
  private static final Pattern MASKED = Pattern.compile("(?::|//)\\*{3}@|=\\*{3}(?:[&;].*)?$");

  private final String scheme;
  private final String base;
  private final Map<String, String> parameters;
  private final String shown;

  private StoreUrl(String scheme, String base, Map<String, String> parameters, String shown) {
    this.scheme = scheme;
    this.base = base;
    this.parameters = parameters;
    this.shown = shown;
  }

  /**
   * Parses a URL; does not look up the store.
   *
   * @throws IllegalArgumentException if it has no scheme, a parameter without a name, with a wrong
   *     escape or twice, or a password with an unescaped question mark
   */
  public static StoreUrl parse(String url) {
    String shown = redact(url);
    if (url.startsWith("@")) {
      throw new IllegalArgumentException(
          "'"
              + shown
              + "' names a file, which only the command-line tool reads. Read the store's URL from that file.");
    }
    int colon = url.startsWith("jdbc:") ? url.indexOf(':', 5) : url.indexOf(':');
    if (colon <= 0 || !url.substring(0, colon).matches("[a-z][a-z0-9+:.-]*")) {
      throw new IllegalArgumentException(
          "'"
              + shown
              + "' is not a store URL. Write it like redis://localhost:6379 or jdbc:sqlite:/var/lib/app/locks.db"
              + (colon > 0 && url.substring(0, colon).matches("[A-Za-z][A-Za-z0-9+:.-]*")
                  ? ", with the scheme in small letters."
                  : "."));
    }
    if (!url.startsWith("mem:") && url.substring(colon + 1).matches("\\d{1,5}(?:[/?].*)?")) {
      throw new IllegalArgumentException(
          "'"
              + shown
              + "' is a host and a port without a scheme. Did you mean 'redis://"
              + shown
              + "'?");
    }
    int question = url.lastIndexOf('?');
    Matcher userInfo = USER_INFO.matcher(url);
    if (userInfo.find() && question >= 0 && userInfo.end() > question) {
      throw new IllegalArgumentException(
          "The password in store URL '" + shown + "' holds a question mark. Write it as %3F.");
    }
    String base = question < 0 ? url : url.substring(0, question);
    Map<String, String> parameters = new LinkedHashMap<>();
    if (question >= 0 && question < url.length() - 1) {
      for (String pair : url.substring(question + 1).split("&", -1)) {
        int equals = pair.indexOf('=');
        String value = decoded(pair.substring(equals + 1));
        if (equals <= 0 || value == null) {
          throw new IllegalArgumentException(
              "A parameter of store URL '"
                  + shown.substring(0, shown.lastIndexOf('?') + 1)
                  + "…' is not name=value. Special characters of a value are written as %XX.");
        }
        String name = pair.substring(0, equals);
        if (parameters.putIfAbsent(name, value) != null) {
          throw new IllegalArgumentException(
              "Parameter '" + name + "' stands twice in store URL '" + shown + "'.");
        }
      }
    }
    return new StoreUrl(url.substring(0, colon), base, parameters, shown);
  }

  /**
   * Decodes {@code %XX}. A plus stays a plus, both before the host and in a parameter.
   *
   * @throws IllegalArgumentException if an escape is wrong; the message omits the text, which may
   *     be a secret
   */
  public static String decode(String text) {
    try {
      return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException showsTheText) {
      throw new IllegalArgumentException("A percent sign is not followed by two hex digits.");
    }
  }

  /** The decoded value; null if an escape is wrong. */
  private static @Nullable String decoded(String value) {
    try {
      return decode(value);
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  /**
   * Refuses a URL whose secret was replaced by stars: the server would report wrong credentials.
   *
   * @throws IllegalArgumentException if a secret in it was replaced by stars
   */
  void refuseMasked() {
    boolean masked =
        MASKED.matcher(base).find()
            || parameters.entrySet().stream()
                .anyMatch(each -> MASKED.matcher(each.getKey() + "=" + each.getValue()).find());
    if (masked) {
      throw new IllegalArgumentException(
          "The secret in store URL '"
              + shown
              + "' was replaced by stars: 'mortise run' hands no password on to its command. Keep the URL in a"
              + " file, and give the outer command MORTISE_STORE=@FILE: its command gets the same. If the secret is"
              + " three stars, write them as %2A%2A%2A.");
    }
  }

  /** {@code redis}, {@code mem}, {@code jdbc:sqlite}, … */
  public String scheme() {
    return scheme;
  }

  /** The part before the parameters; may hold a password. */
  public String base() {
    return base;
  }

  /** The names of the parameters, in order. */
  public Set<String> parameterNames() {
    return Collections.unmodifiableSet(parameters.keySet());
  }

  /** The value of a parameter; null if it is not there. */
  public @Nullable String parameter(String name) {
    return parameters.get(name);
  }

  /** The value of a parameter, or the default. */
  public String parameter(String name, String otherwise) {
    String value = parameters.get(name);
    return value == null ? otherwise : value;
  }

  /** The parameters except those of these names, as a query: for a store that opens others. */
  public String parametersExcept(String... names) {
    List<String> own = List.of(names);
    return parameters.entrySet().stream()
        .filter(parameter -> !own.contains(parameter.getKey()))
        .map(
            parameter ->
                parameter.getKey()
                    + "="
                    + URLEncoder.encode(parameter.getValue(), StandardCharsets.UTF_8)
                        .replace("+", "%20"))
        .collect(Collectors.joining("&"));
  }

  /**
   * The value of a boolean parameter, {@code true} or {@code false}.
   *
   * @throws IllegalArgumentException if it is anything else
   */
  public boolean flag(String name, boolean otherwise) {
    String value = parameters.get(name);
    if (value == null) {
      return otherwise;
    }
    if (!value.equals("true") && !value.equals("false")) {
      throw new IllegalArgumentException(
          "Parameter '"
              + name
              + "' of store URL '"
              + shown
              + "' is '"
              + value
              + "'. Expected true or false.");
    }
    return value.equals("true");
  }

  /**
   * The value of a duration parameter, see {@link DurationText}.
   *
   * @throws IllegalArgumentException if it is not a duration
   */
  public Duration duration(String name, Duration otherwise) {
    String value = parameters.get(name);
    if (value == null) {
      return otherwise;
    }
    try {
      return DurationText.parse(value);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "Parameter '" + name + "' of store URL '" + shown + "': " + e.getMessage(), e);
    }
  }

  /**
   * Refuses unknown parameters: a misspelt option must not be dropped in silence.
   *
   * @throws IllegalArgumentException if there is a parameter that is not among the known ones
   */
  public void allowOnly(Set<String> known) {
    for (String name : parameters.keySet()) {
      if (!known.contains(name)) {
        throw new IllegalArgumentException(
            "Unknown parameter '"
                + name
                + "' in store URL '"
                + hideAllBut(known)
                + "'. "
                + remedy(name, known)
                + "Known: "
                + String.join(", ", new TreeSet<>(known))
                + ".");
      }
    }
  }

  private static String remedy(String name, Set<String> known) {
    if (name.equals("ttl")) {
      return "The TTL is the client's: set it by LockClientBuilder.ttl, or by mortise.ttl in Spring"
          + " Boot. ";
    }
    return NameSuggestion.parameter(name, known)
        .map(meant -> "Did you mean '" + meant + "'? ")
        .orElse("");
  }

  /** The text with all but the known parameters hidden: a misspelt one may be a password. */
  private String hideAllBut(Set<String> known) {
    String hidden = shown;
    for (String name : parameters.keySet()) {
      if (!known.contains(name)) {
        hidden = hidden.replaceFirst("([?&]" + Pattern.quote(name) + "=)[^&]*", "$1***");
      }
    }
    return hidden;
  }

  /** The URL with secrets replaced by {@code ***}. */
  @Override
  public String toString() {
    return shown;
  }

  private static String redact(String url) {
    // Replaced first in URLs with credentials in parameters: there an unescaped at sign does not
    // end the user info.
    String withoutValues =
        url.startsWith("jdbc:") ? SECRET_VALUE.matcher(url).replaceAll("$1***") : url;
    String withoutPassword = USER_INFO.matcher(withoutValues).replaceAll("$1:***@");
    String withoutUserInfo = LONE_USER_INFO.matcher(withoutPassword).replaceAll("//***@");
    String withoutSlashes = USER_INFO_WITHOUT_SLASHES.matcher(withoutUserInfo).replaceAll("$1***@");
    String withoutName = USER_INFO_AT_ONCE.matcher(withoutSlashes).replaceAll("$1***@");
    return SECRET_VALUE.matcher(withoutName).replaceAll("$1***");
  }
}
