package io.mortise.testkit.server;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** One command to a Redis, and its answer: all that starting and judging servers takes. */
final class RedisConversation {
  private RedisConversation() {}

  /**
   * Asks on a connection of its own.
   *
   * @return the texts of the answer, in order, however they are nested
   * @throws IOException if nobody answers, or with an error
   */
  static List<String> ask(int port, String... words) throws IOException {
    try (Socket socket = ServerProcess.connect(port)) {
      socket.setSoTimeout(10_000);
      StringBuilder command = new StringBuilder("*" + words.length + "\r\n");
      for (String word : words) {
        command.append('$').append(word.getBytes(StandardCharsets.UTF_8).length).append("\r\n");
        command.append(word).append("\r\n");
      }
      socket.getOutputStream().write(command.toString().getBytes(StandardCharsets.UTF_8));
      List<String> texts = new ArrayList<>();
      read(new DataInputStream(socket.getInputStream()), texts);
      return texts;
    }
  }

  private static void read(DataInputStream in, List<String> texts) throws IOException {
    String head = line(in);
    String rest = head.substring(1);
    switch (head.charAt(0)) {
      case '-' -> throw new IOException("Redis answered: " + rest);
      case '$' -> {
        int length = Integer.parseInt(rest);
        if (length >= 0) {
          texts.add(new String(in.readNBytes(length), StandardCharsets.UTF_8));
          line(in);
        }
      }
      case '*' -> {
        int items = Integer.parseInt(rest);
        for (int i = 0; i < items; i++) {
          read(in, texts);
        }
      }
      default -> texts.add(rest);
    }
  }

  private static String line(DataInputStream in) throws IOException {
    StringBuilder line = new StringBuilder();
    while (true) {
      int next = in.read();
      if (next < 0) {
        throw new EOFException("The server closed the connection.");
      } else if (next == '\n') {
        return line.toString();
      } else if (next != '\r') {
        line.append((char) next);
      }
    }
  }
}
