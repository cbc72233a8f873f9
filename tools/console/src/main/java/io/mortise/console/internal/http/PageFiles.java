package io.mortise.console.internal.http;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.GZIPOutputStream;

/** The files of the page, from this jar. Only valid names of such files are looked up. */
public final class PageFiles {
  static final String INDEX = "index.html";

  private static final String ROOT = "/META-INF/mortise/console/";

  /** No part begins with a dot, so none leads to a parent folder. */
  private static final Pattern NAME =
      Pattern.compile("(?:[a-zA-Z0-9][a-zA-Z0-9_.-]{0,63}/){0,4}[a-zA-Z0-9][a-zA-Z0-9_.-]{0,63}");

  private static final Map<String, String> TYPES =
      Map.of(
          "html", "text/html; charset=utf-8",
          "js", "text/javascript; charset=utf-8",
          "css", "text/css; charset=utf-8",
          "svg", "image/svg+xml",
          "png", "image/png",
          "ico", "image/x-icon",
          "txt", "text/plain; charset=utf-8");

  private static final Pattern INLINE_SCRIPT =
      Pattern.compile("<script(?![^>]*\\ssrc=)[^>]*>(.*?)</script>", Pattern.DOTALL);

  private final Map<String, Optional<PageFile>> files = new ConcurrentHashMap<>();

  /** A file, plain and compressed. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record PageFile(String type, byte[] plain, byte[] zipped, String etag) {}

  /**
   * The hashes of inline scripts of the page, such as its import map, in the form of a
   * Content-Security-Policy, each preceded by a space.
   */
  String scriptHashes() {
    StringBuilder hashes = new StringBuilder();
    find(INDEX)
        .ifPresent(
            page -> {
              Matcher script =
                  INLINE_SCRIPT.matcher(new String(page.plain(), StandardCharsets.UTF_8));
              while (script.find()) {
                byte[] text = script.group(1).getBytes(StandardCharsets.UTF_8);
                hashes
                    .append(" 'sha256-")
                    .append(Base64.getEncoder().encodeToString(Digests.sha256(text)))
                    .append('\'');
              }
            });
    return hashes.toString();
  }

  /**
   * Returns the requested file.
   *
   * @throws RefusedException if there is none
   */
  ConsoleResponse answer(ConsoleRequest request) {
    String name = request.path().isEmpty() ? INDEX : request.path();
    PageFile file = find(name).orElseThrow(RefusedException::notFound);
    if (!request.method().equals("GET")) {
      throw RefusedException.methodNotAllowed("GET");
    }
    String accepted = request.header("Accept-Encoding");
    boolean zip =
        accepted != null && accepted.contains("gzip") && file.zipped().length < file.plain().length;
    ConsoleResponse answer =
        ConsoleResponse.of(file.type(), zip ? file.zipped() : file.plain())
            // Revalidated at each visit: a newer tool may answer at the same address.
            .with("Cache-Control", "no-cache")
            .with("ETag", file.etag())
            .with("Vary", "Accept-Encoding");
    if (file.etag().equals(request.header("If-None-Match"))) {
      return answer.notModified();
    }
    return zip ? answer.with("Content-Encoding", "gzip") : answer;
  }

  private Optional<PageFile> find(String name) {
    if (!NAME.matcher(name).matches()) {
      return Optional.empty();
    }
    String type = TYPES.get(name.substring(name.lastIndexOf('.') + 1));
    if (type == null) {
      return Optional.empty();
    }
    Optional<PageFile> known = files.get(name);
    if (known != null) {
      return known;
    }
    Optional<PageFile> read = read(name, type);
    // Missing names are not cached: their number is unlimited.
    read.ifPresent(file -> files.put(name, read));
    return read;
  }

  private static Optional<PageFile> read(String name, String type) {
    try (InputStream in = PageFiles.class.getResourceAsStream(ROOT + name)) {
      if (in == null) {
        return Optional.empty();
      }
      byte[] plain = in.readAllBytes();
      ByteArrayOutputStream zipped = new ByteArrayOutputStream();
      try (GZIPOutputStream zip = new GZIPOutputStream(zipped)) {
        zip.write(plain);
      }
      String etag =
          "\""
              + Base64.getUrlEncoder().withoutPadding().encodeToString(Digests.sha256(plain))
              + '"';
      return Optional.of(new PageFile(type, plain, zipped.toByteArray(), etag));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Security headers of every answer. */
  Map<String, String> securityHeaders() {
    Map<String, String> headers = new LinkedHashMap<>();
    headers.put(
        "Content-Security-Policy",
        "default-src 'none'; script-src 'self'"
            + scriptHashes()
            + "; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none';"
            + " form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script';"
            + " trusted-types 'none'");
    headers.put("X-Content-Type-Options", "nosniff");
    headers.put("X-Frame-Options", "DENY");
    headers.put("Referrer-Policy", "no-referrer");
    headers.put("Cross-Origin-Opener-Policy", "same-origin");
    headers.put("Cross-Origin-Resource-Policy", "same-origin");
    return headers;
  }
}
