package io.mortise.redis.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.redis.transport.RespReader.ProtocolException;
import io.mortise.redis.transport.RespReader.PushMessage;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RespReaderTest {
  private static RespReader reader(String text) {
    return new RespReader(stream(text));
  }

  private static InputStream stream(String text) {
    return new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
  }

  /** Yields a few bytes at a time, as a network may. */
  private static InputStream inPieces(String text, int most, long seed) {
    Random random = new Random(seed);
    return new FilterInputStream(stream(text)) {
      @Override
      public int read(byte[] to, int from, int length) throws IOException {
        return super.read(to, from, Math.min(length, 1 + random.nextInt(most)));
      }
    };
  }

  /** The same text again and again, without an end. */
  private static InputStream endless(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    return new InputStream() {
      private long at;

      @Override
      public int read() {
        return bytes[(int) (at++ % bytes.length)];
      }

      @Override
      public int read(byte[] to, int from, int length) {
        for (int i = 0; i < length; i++) {
          to[from + i] = (byte) read();
        }
        return length;
      }
    };
  }

  @ParameterizedTest
  @ValueSource(strings = {"|0\r\n", "|1\r\n+a\r\n+b\r\n"})
  @Timeout(60)
  void givenAttributesForEver_thenTheyAreRefused(String attribute) {
    RespReader reader = new RespReader(endless(attribute));
    assertThatThrownBy(reader::read)
        .isInstanceOf(ProtocolException.class)
        .hasMessageContaining("items in one answer");
  }

  @Test
  void givenManyTextsThatAreTooLargeTogether_thenTheyAreRefusedBeforeTheyAreHeld() {
    String large = "x".repeat(RespReader.MAX_TEXT / 4);
    InputStream texts = endless("$" + large.length() + "\r\n" + large + "\r\n");
    RespReader reader = new RespReader(new SequenceInputStream(stream("*1000\r\n"), texts));
    assertThatThrownBy(reader::read)
        .isInstanceOf(ProtocolException.class)
        .hasMessageContaining("bytes in one answer");
  }

  @Test
  void givenAnswersOneAfterTheOther_thenEachMayBeAsLarge() throws Exception {
    String large = "x".repeat(RespReader.MAX_TEXT / 2);
    RespReader reader = new RespReader(endless("$" + large.length() + "\r\n" + large + "\r\n"));
    for (int i = 0; i < 6; i++) {
      assertThat(String.valueOf(reader.read()).length()).isEqualTo(large.length());
    }
  }

  @Test
  void givenEachType_thenItBecomesTheValueThatItStandsFor() throws Exception {
    RespReader reader =
        reader(
            String.join(
                "\r\n",
                "+OK",
                ":42",
                ":-7",
                "$5",
                "hello",
                "$0",
                "",
                "$-1",
                "_",
                "*-1",
                "*0",
                "#t",
                "#f",
                ",1.5",
                "(123456789012345678901",
                "=7",
                "txt:abc",
                "~2",
                ":1",
                ":2",
                "%1",
                "+key",
                ":3",
                ""));
    assertThat(reader.read()).isEqualTo("OK");
    assertThat(reader.read()).isEqualTo(42L);
    assertThat(reader.read()).isEqualTo(-7L);
    assertThat(reader.read()).isEqualTo("hello");
    assertThat(reader.read()).isEqualTo("");
    assertThat(reader.read()).isNull();
    assertThat(reader.read()).isNull();
    assertThat(reader.read()).isNull();
    assertThat(reader.read()).isEqualTo(List.of());
    assertThat(reader.read()).isEqualTo(1L);
    assertThat(reader.read()).isEqualTo(0L);
    assertThat(reader.read()).isEqualTo("1.5");
    assertThat(reader.read()).isEqualTo("123456789012345678901");
    assertThat(reader.read()).isEqualTo("abc");
    assertThat(reader.read()).isEqualTo(List.of(1L, 2L));
    assertThat(reader.read()).isEqualTo(List.of("key", 3L));
    assertThatThrownBy(reader::read).isInstanceOf(EOFException.class);
  }

  @Test
  void givenErrors_thenTheyAreValues_alsoInsideAList() throws Exception {
    RespReader reader =
        reader("-NOSCRIPT No matching script\r\n!9\r\nBUSY wait\r\n*2\r\n:1\r\n-ERR no\r\n");
    assertThat(reader.read())
        .isInstanceOfSatisfying(
            ErrorReplyException.class,
            error -> {
              assertThat(error.is("NOSCRIPT")).isTrue();
              assertThat(error.is("NO")).isFalse();
              assertThat(error).hasMessage("NOSCRIPT No matching script");
            });
    assertThat(reader.read())
        .isInstanceOfSatisfying(
            ErrorReplyException.class, error -> assertThat(error.is("BUSY")).isTrue());
    assertThat((List<?>) reader.read()).element(1).isInstanceOf(ErrorReplyException.class);
  }

  @Test
  void givenErrorWithControlCharacters_orOfAnyLength_thenItIsQuoted() throws Exception {
    RespReader reader = reader("-ERR \u001b[31mforged " + "x".repeat(1_000) + "\r\n");
    assertThat(reader.read())
        .isInstanceOfSatisfying(
            ErrorReplyException.class,
            error -> {
              assertThat(error.is("ERR")).isTrue();
              assertThat(error.getMessage()).startsWith("ERR  [31mforged x").hasSize(201);
            });
  }

  @Test
  void givenPushesBetweenAnswers_thenEachIsToldApart() throws Exception {
    RespReader reader =
        reader(">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n*1\r\n*1\r\n:5\r\n+OK\r\n>1\r\n+pong\r\n");
    assertThat(reader.read())
        .isEqualTo(new PushMessage(Arrays.asList("message", "c", List.of(List.of(5L)))));
    assertThat(reader.read()).isEqualTo("OK");
    assertThat(((PushMessage) reader.read()).is("pong")).isTrue();
  }

  @Test
  void givenAttributes_thenTheyArePassedOver_whereverTheyStand() throws Exception {
    RespReader reader =
        reader("|1\r\n+ttl\r\n*1\r\n:3600\r\n*2\r\n|1\r\n+a\r\n+b\r\n:1\r\n:2\r\n+next\r\n");
    assertThat(reader.read()).isEqualTo(List.of(1L, 2L));
    assertThat(reader.read()).isEqualTo("next");
  }

  @Test
  void givenTextBeyondAscii_thenItIsUtf8_countedInBytes() throws Exception {
    assertThat(reader("$9\r\nä–🔒\r\n").read()).isEqualTo("ä–🔒");
  }

  @ParameterizedTest
  @CsvSource({"1,1", "2,2", "3,3", "7,4", "100,5", "20000,6"})
  void givenAnswersInPieces_thenTheyAreReadAsIfWhole(int most, long seed) throws Exception {
    String large = "x".repeat(3 * RespReader.MAX_LINE);
    String medium = "y".repeat(RespReader.MAX_LINE - 10);
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 50; i++) {
      text.append("*3\r\n:").append(i).append("\r\n$3\r\nabc\r\n+line\r\n>2\r\n+message\r\n_\r\n");
    }
    text.append('$').append(large.length()).append("\r\n").append(large).append("\r\n");
    text.append('$').append(medium.length()).append("\r\n").append(medium).append("\r\n:1\r\n");
    RespReader reader = new RespReader(inPieces(text.toString(), most, seed));
    for (long i = 0; i < 50; i++) {
      assertThat(reader.read()).isEqualTo(List.of(i, "abc", "line"));
      assertThat(reader.read()).isEqualTo(new PushMessage(Arrays.asList("message", null)));
    }
    assertThat(reader.read()).isEqualTo(large);
    assertThat(reader.read()).isEqualTo(medium);
    assertThat(reader.read()).isEqualTo(1L);
    assertThat(reader.hasMore()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "$-2\r\n",
        "*-2\r\n",
        ">-1\r\n",
        "$33554433\r\n",
        "*1048577\r\n",
        "%600000\r\n",
        "$99999999999999999999\r\n",
        ":9223372036854775808\r\n",
        ":\r\n",
        ":-\r\n",
        ":1x\r\n",
        ":1\rx",
        "$3\r\nabcd\r\n",
        "#x\r\n",
        "_x\r\n",
        "?\r\n",
        "HTTP/1.1 400 Bad Request\r\n",
        "*1\r\n>1\r\n+nested\r\n",
        "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n"
      })
  void givenWhatIsNoAnswer_orTooLarge_thenTheConnectionIsOver(String text) {
    assertThatThrownBy(() -> reader(text).read()).isInstanceOf(ProtocolException.class);
  }

  @Test
  void givenExtremeNumbers_thenTheyAreRead() throws Exception {
    assertThat(reader(":9223372036854775807\r\n").read()).isEqualTo(Long.MAX_VALUE);
    assertThat(reader(":-9223372036854775808\r\n").read()).isEqualTo(Long.MIN_VALUE);
  }

  @Test
  void givenLongLine_thenItIsReadUpToTheBound() throws Exception {
    String line = "e".repeat(RespReader.MAX_LINE - 2);
    assertThat(reader("+" + line + "\r\n").read()).isEqualTo(line);
    assertThatThrownBy(() -> reader("+" + line + "e\r\n").read())
        .isInstanceOf(ProtocolException.class);
  }

  @Test
  void givenListsThatPromiseMuch_thenNoMoreIsKeptThanHasCome() {
    String many = "*1048576\r\n:1\r\n";
    assertThatThrownBy(() -> reader(many).read()).isInstanceOf(EOFException.class);
    assertThatThrownBy(() -> reader("$33554432\r\nabc").read()).isInstanceOf(EOFException.class);
  }

  @Test
  void givenManyListsInOne_thenTheBoundIsForAllTogether() {
    StringBuilder text = new StringBuilder("*3\r\n");
    String nils = "_\r\n".repeat(400_000);
    for (int i = 0; i < 3; i++) {
      text.append("*400000\r\n").append(nils);
    }
    assertThatThrownBy(() -> reader(text.toString()).read()).isInstanceOf(ProtocolException.class);
  }

  @Test
  void givenCutAnywhere_thenItIsAnEnd_notAnAnswer() throws Exception {
    String whole = "*2\r\n$3\r\nabc\r\n:12\r\n";
    for (int cut = 0; cut < whole.length(); cut++) {
      String part = whole.substring(0, cut);
      assertThatThrownBy(() -> reader(part).read()).as(part).isInstanceOf(EOFException.class);
    }
  }

  @Test
  void givenCommands_thenTheyAreWrittenWithTheirLengthsInBytes() throws Exception {
    RespWriter writer = new RespWriter();
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    writer.command("SET", "ä", "");
    writer.command("PING");
    writer.sendTo(out);
    assertThat(out.toString(StandardCharsets.UTF_8))
        .isEqualTo("*3\r\n$3\r\nSET\r\n$2\r\nä\r\n$0\r\n\r\n*1\r\n$4\r\nPING\r\n");
    out.reset();
    writer.command("ECHO", "z".repeat(1_000_000));
    writer.sendTo(out);
    assertThat(out.toString(StandardCharsets.UTF_8))
        .startsWith("*2\r\n$4\r\nECHO\r\n$1000000\r\nz");
    for (int words : new int[] {1, 9, 10, 99, 100, 999, 1000, 12_345}) {
      String[] command = new String[words];
      Arrays.fill(command, "x");
      out.reset();
      writer.command(command);
      writer.sendTo(out);
      assertThat(reader(out.toString(StandardCharsets.UTF_8)).read())
          .isEqualTo(Arrays.asList(command));
    }
  }
}
