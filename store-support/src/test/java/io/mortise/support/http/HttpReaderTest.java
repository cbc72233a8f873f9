package io.mortise.support.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.support.http.HttpReader.AnswerHead;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.ProtocolException;
import java.net.SocketTimeoutException;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Answers in parts of any size, and invalid answers. */
class HttpReaderTest {
  private static final int MOST = 1_000;

  /** More than any answer here: a reader gets it in one read. */
  private static final int ALL = 10_000;

  private final long seed = Long.getLong("mortise.seed", new Random().nextLong());
  private final Random random = new Random(seed);

  /** Reads from that text, at most this number of bytes at a time. */
  private static HttpReader reader(byte[] bytes, Random random, int most) {
    int[] from = {0};
    return new HttpReader(
        buffer -> {
          if (from[0] == bytes.length) {
            return -1;
          }
          int some = Math.min(most == ALL ? ALL : 1 + random.nextInt(most), bytes.length - from[0]);
          System.arraycopy(bytes, from[0], buffer, 0, some);
          from[0] += some;
          return some;
        });
  }

  /** Status, body, and whether another answer may follow. */
  private static String shown(HttpReader reader) throws IOException {
    AnswerHead head = reader.readHead();
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    boolean mayFollow = reader.readBody(head, body, MOST);
    return head.status() + " " + body.toString(UTF_8) + (mayFollow ? " …" : " .");
  }

  private String read(String answer) throws IOException {
    return shown(reader(answer.replace("\n", "\r\n").getBytes(UTF_8), random, 7));
  }

  private void assertRefused(String answer, String why) {
    assertThatThrownBy(() -> read(answer))
        .as("-Dmortise.seed=" + seed)
        .isInstanceOf(ProtocolException.class)
        .hasMessageContaining(why);
  }

  @Test
  void givenAnswersInEachForm_thenTheirBodiesAreRead_andWhetherTheConnectionGoesOn()
      throws IOException {
    String length = "HTTP/1.1 200 OK\ncontent-LENGTH: 3 \n";
    assertThat(read(length + "\nabc")).isEqualTo("200 abc …");
    byte[] more = (length + "\nabcd").getBytes(UTF_8);
    assertThat(shown(reader(more, random, ALL))).as("more than is due").isEqualTo("200 abc .");
    assertThat(read(length + "Connection: Close\n\nabc")).isEqualTo("200 abc .");
    assertThat(read("HTTP/1.0 200 OK\nContent-Length: 3\n\nabc")).isEqualTo("200 abc .");
    assertThat(read("HTTP/1.1 200\nX:\n\nuntil the end")).isEqualTo("200 until the end .");
    assertThat(read("HTTP/1.1 204 No Content\nX: y\n\n")).isEqualTo("204  …");
    assertThat(read("HTTP/1.1 404 Not Found\nContent-Length: 0\n\n")).isEqualTo("404  …");
    assertThat(read("HTTP/1.1 100 Continue\n\nHTTP/1.1 103 Early\nLink: x\n\n" + length + "\nabc"))
        .isEqualTo("200 abc …");
    String chunked = "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n";
    String chunks = "2;name=\"x\"\nab\nB\ncdefghijklm\n00\nTrailer: x\n\n";
    assertThat(read(chunked + "\n" + chunks)).isEqualTo("200 abcdefghijklm …");
    assertThat(read(chunked + "Content-Length: 3\n\n" + chunks))
        .as("a trick, perhaps")
        .isEqualTo("200 abcdefghijklm .");
  }

  @Test
  void givenAnswersInNoForm_thenTheyAreRefused() {
    assertRefused("220 mail ESMTP\n", "does not speak HTTP");
    assertRefused("HTTP/2.0 200 OK\n\n", "does not speak HTTP");
    assertRefused("HTTP/1.1 20 OK\n\n", "does not speak HTTP");
    assertRefused("HTTP/1.1 200 OK\nno colon\n\n", "header of the answer is malformed");
    assertRefused("HTTP/1.1 200 OK\nX: y\n folded\n\n", "header of the answer is malformed");
    assertRefused(
        "HTTP/1.1 200 OK\nContent-Length : 3\n\nabc", "header of the answer is malformed");
    String length = "HTTP/1.1 200 OK\nContent-Length: ";
    assertRefused(length + "-3\n\nabc", "length in the answer is malformed");
    assertRefused(length + "3\nContent-Length: 4\n\nabcd", "length in the answer is malformed");
    assertRefused(length + "99999999999999999999\n\nabc", "length in the answer is malformed");
    assertRefused(length + (MOST + 1) + "\n\nabc", "answer is too long");
    assertRefused("HTTP/1.1 200 OK\n\n" + "x".repeat(MOST + 1), "answer is too long");
    String coding = "HTTP/1.1 200 OK\nTransfer-Encoding: ";
    assertRefused(coding + "gzip, chunked\n\n", "is encoded: gzip");
    assertRefused(coding + "chunked\n\n-1\nab\n0\n\n", "length in the answer is malformed");
    assertRefused(coding + "chunked\n\nffffffffffffffff\nab\n0\n\n", "is malformed");
    assertRefused(coding + "chunked\n\n2\nabc\n0\n\n", "does not end where it should");
    assertRefused(coding + "chunked\n\n" + "64\n" + "x".repeat(100) + "\nFFFFFFFF\n", "too long");
    assertRefused("HTTP/1.1 200 OK\nX: " + "x".repeat(70_000), "before the answer's body");
    assertRefused("HTTP/1.1 200 OK\n" + "X: y\n".repeat(3_000), "before the answer's body");
    assertRefused("HTTP/1.1 100 Continue\n\n".repeat(3_000), "before the answer's body");
  }

  @Test
  void givenAnswersThatEndEarly_thenTheEndIsTold() {
    String whole = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n";
    for (int length = 0; length < whole.length(); length++) {
      byte[] part = whole.substring(0, length).getBytes(UTF_8);
      assertThatThrownBy(() -> shown(reader(part, random, 7)))
          .as("the first %d bytes", length)
          .isInstanceOf(EOFException.class);
    }
  }

  /** Otherwise the next request would get the previous answer. */
  @Test
  void givenWaitThatTimesOut_thenTheAnswerBeforeIsNotReadAgain() throws IOException {
    byte[] bytes = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc".getBytes(UTF_8);
    int[] reads = {0};
    HttpReader reader =
        new HttpReader(
            buffer -> {
              if (++reads[0] == 2) {
                throw new SocketTimeoutException("nothing came");
              }
              System.arraycopy(bytes, 0, buffer, 0, bytes.length);
              return reads[0] == 1 ? bytes.length : -1;
            });
    assertThat(shown(reader)).isEqualTo("200 abc …");
    assertThatThrownBy(reader::awaitBytes).isInstanceOf(SocketTimeoutException.class);
    assertThat(reader.awaitBytes()).isFalse();
  }

  /** Any bytes are an answer or an exception of I/O, and reading them ends. */
  @Test
  void givenDamagedAnswers_thenNothingButIoFails() {
    String[] whole = {
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\nA: b\r\n\r\nabcde",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x\r\nab\r\n3\r\ncde\r\n0\r\nT: u\r\n\r\n"
    };
    int read = 0;
    int refused = 0;
    for (int i = 0; i < 20_000; i++) {
      byte[] bytes = whole[random.nextInt(2)].getBytes(UTF_8);
      for (int damaged = random.nextInt(4); damaged > 0; damaged--) {
        bytes[random.nextInt(bytes.length)] =
            random.nextBoolean()
                ? (byte) random.nextInt()
                : (byte) " \r\n\0:;0123456789abcdef".charAt(random.nextInt(22));
      }
      try {
        assertThat(shown(reader(bytes, random, 1 + random.nextInt(80)))).isNotEmpty();
        read++;
      } catch (IOException e) {
        refused++;
      } catch (RuntimeException e) {
        throw new AssertionError("-Dmortise.seed=" + seed + ": " + new String(bytes, UTF_8), e);
      }
    }
    assertThat(read).as("read, -Dmortise.seed=" + seed).isGreaterThan(5_000);
    assertThat(refused).as("refused, -Dmortise.seed=" + seed).isGreaterThan(1_000);
  }
}
