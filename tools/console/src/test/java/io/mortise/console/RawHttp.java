package io.mortise.console;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Raw requests: the JDK's client would not send those of an attacker. */
final class RawHttp {
  private final InetSocketAddress address;
  private final String token;

  RawHttp(Console console) {
    this.address = console.address();
    this.token = console.url().getFragment().replaceFirst("token=", "");
  }

  /** An answer. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record Answer(int status, Map<String, List<String>> headers, String body, byte[] bytes) {
    String header(String name) {
      List<String> values = headers.getOrDefault(name.toLowerCase(Locale.ROOT), List.of());
      return values.isEmpty() ? "" : values.get(0);
    }
  }

  String token() {
    return token;
  }

  String host() {
    return "127.0.0.1:" + address.getPort();
  }

  /** Requests a path with the right host and token. */
  Answer get(String path) throws IOException {
    return send("GET", path, authorized(), "");
  }

  Answer post(String path, String json) throws IOException {
    Map<String, String> headers = authorized();
    headers.put("Content-Type", "application/json");
    return send("POST", path, headers, json);
  }

  Map<String, String> authorized() {
    Map<String, String> headers = new LinkedHashMap<>();
    headers.put("Host", host());
    headers.put("Authorization", "Bearer " + token);
    return headers;
  }

  Answer send(String method, String path, Map<String, String> headers, String body)
      throws IOException {
    StringBuilder text = new StringBuilder(method + " " + path + " HTTP/1.1\r\n");
    headers.forEach((name, value) -> text.append(name).append(": ").append(value).append("\r\n"));
    if (!body.isEmpty()) {
      text.append("Content-Length: ")
          .append(body.getBytes(StandardCharsets.UTF_8).length)
          .append("\r\n");
    }
    return send(text + "Connection: close\r\n\r\n" + body);
  }

  Answer send(String raw) throws IOException {
    try (Socket socket = open()) {
      socket.getOutputStream().write(raw.getBytes(StandardCharsets.UTF_8));
      socket.getOutputStream().flush();
      return parse(socket.getInputStream().readAllBytes());
    }
  }

  Socket open() throws IOException {
    return connected(new Socket());
  }

  /** Opens a socket with a small receive buffer. */
  Socket openDeaf() throws IOException {
    Socket socket = new Socket();
    socket.setReceiveBufferSize(4096);
    return connected(socket);
  }

  private Socket connected(Socket socket) throws IOException {
    socket.connect(address, 5_000);
    socket.setSoTimeout(30_000);
    return socket;
  }

  /** The bytes of a request for a stream. */
  byte[] stream(String query) {
    String request =
        "GET /api/v1/stream?"
            + query
            + " HTTP/1.1\r\nHost: "
            + host()
            + "\r\nAuthorization: Bearer "
            + token
            + "\r\n\r\n";
    return request.getBytes(StandardCharsets.UTF_8);
  }

  /** Reads a stream until it contains a text. */
  static String readUntil(InputStream in, String text) throws IOException {
    ByteArrayOutputStream read = new ByteArrayOutputStream();
    long deadline = System.nanoTime() + 60_000_000_000L;
    while (!read.toString(StandardCharsets.UTF_8).contains(text)) {
      int next = in.read();
      if (next < 0 || System.nanoTime() > deadline) {
        throw new IOException("Not in the stream: " + read.toString(StandardCharsets.UTF_8));
      }
      read.write(next);
    }
    return read.toString(StandardCharsets.UTF_8);
  }

  private static Answer parse(byte[] bytes) throws IOException {
    String all = new String(bytes, StandardCharsets.ISO_8859_1);
    int split = all.indexOf("\r\n\r\n");
    if (split < 0) {
      throw new IOException("No answer, but: " + all);
    }
    String[] lines = all.substring(0, split).split("\r\n", -1);
    Map<String, List<String>> headers = new LinkedHashMap<>();
    for (int i = 1; i < lines.length; i++) {
      int colon = lines[i].indexOf(':');
      headers
          .computeIfAbsent(
              lines[i].substring(0, colon).toLowerCase(Locale.ROOT), key -> new ArrayList<>())
          .add(lines[i].substring(colon + 1).strip());
    }
    String body = new String(bytes, split + 4, bytes.length - split - 4, StandardCharsets.UTF_8);
    return new Answer(Integer.parseInt(lines[0].split(" ", -1)[1]), headers, body, bytes);
  }
}
