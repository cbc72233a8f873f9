package io.mortise.http.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientInterceptors;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerInterceptors;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import io.mortise.FencingToken;
import io.mortise.LeaseLostException;
import io.mortise.StaleTokenException;
import io.mortise.event.LeaseEnd;
import io.mortise.http.FencingHeader;
import io.mortise.http.GuardedCell;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class FencingInterceptorsTest {
  private static final FencingToken FIRST = new FencingToken("invoice/42", 917, "a");
  private static final FencingToken SECOND = new FencingToken("invoice/42", 918, "b");
  private static final MethodDescriptor<String, String> WRITE = method("cell/write");

  private final GuardedCell cell = new GuardedCell();
  private Server server;
  private ManagedChannel channel;
  private String optional;
  private ManagedChannel optionalChannel;
  private Server optionalServer;

  private static MethodDescriptor<String, String> method(String name) {
    MethodDescriptor.Marshaller<String> text =
        new MethodDescriptor.Marshaller<>() {
          @Override
          public InputStream stream(String value) {
            return new ByteArrayInputStream(value.getBytes(StandardCharsets.UTF_8));
          }

          @Override
          public String parse(InputStream stream) {
            try {
              return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
            } catch (IOException e) {
              throw new UncheckedIOException(e);
            }
          }
        };
    return MethodDescriptor.<String, String>newBuilder()
        .setType(MethodDescriptor.MethodType.UNARY)
        .setFullMethodName(name)
        .setRequestMarshaller(text)
        .setResponseMarshaller(text)
        .build();
  }

  @BeforeEach
  void open() throws IOException {
    String required = InProcessServerBuilder.generateName();
    server = start(required, FencingServerInterceptor.required());
    channel = InProcessChannelBuilder.forName(required).build();
    optional = InProcessServerBuilder.generateName();
    optionalServer = start(optional, FencingServerInterceptor.optional());
    optionalChannel = InProcessChannelBuilder.forName(optional).build();
  }

  private Server start(String name, FencingServerInterceptor interceptor) throws IOException {
    ServerServiceDefinition service =
        ServerServiceDefinition.builder("cell")
            .addMethod(WRITE, ServerCalls.asyncUnaryCall(this::serve))
            .build();
    return InProcessServerBuilder.forName(name)
        .addService(ServerInterceptors.intercept(service, interceptor))
        .build()
        .start();
  }

  @AfterEach
  void close() throws InterruptedException {
    for (ManagedChannel each : new ManagedChannel[] {channel, optionalChannel}) {
      assertThat(each.shutdownNow().awaitTermination(10, TimeUnit.SECONDS)).isTrue();
    }
    for (Server each : new Server[] {server, optionalServer}) {
      assertThat(each.shutdownNow().awaitTermination(10, TimeUnit.SECONDS)).isTrue();
    }
  }

  private void serve(String how, StreamObserver<String> answer) {
    Optional<FencingToken> token = FencingServerInterceptor.token();
    try {
      token.ifPresent(cell::write);
    } catch (RuntimeException e) {
      if (how.startsWith("onError")) {
        answer.onError(e);
        if (how.equals("onError")) {
          return;
        }
      }
      throw how.equals("wrapped") ? new IllegalStateException("of a framework", e) : e;
    }
    answer.onNext(token.map(FencingToken::lock).orElse("without"));
    answer.onCompleted();
  }

  private static String call(Channel channel, FencingToken token, String how) {
    return ClientCalls.blockingUnaryCall(
        ClientInterceptors.intercept(
            channel, new FencingClientInterceptor(() -> Optional.ofNullable(token))),
        WRITE,
        CallOptions.DEFAULT.withDeadlineAfter(20, TimeUnit.SECONDS),
        how);
  }

  private static void refused(Channel channel, FencingToken token, String how, Status.Code code) {
    assertThatThrownBy(() -> call(channel, token, how))
        .as(how)
        .isInstanceOfSatisfying(
            StatusRuntimeException.class,
            e -> {
              assertThat(e.getStatus().getCode()).isEqualTo(code);
              String trailer = e.getTrailers().get(FencingServerInterceptor.REFUSED_KEY);
              assertThat(trailer != null)
                  .isEqualTo(
                      code == Status.Code.FAILED_PRECONDITION || code == Status.Code.ABORTED);
              if (trailer != null) {
                int status =
                    code == Status.Code.ABORTED
                        ? FencingHeader.TWICE_STATUS
                        : FencingHeader.STALE_STATUS;
                assertThat(FencingHeader.refusal(status, trailer, "cell", token))
                    .get()
                    .satisfies(told -> assertThat(told.currentToken()).isEqualTo(SECOND.value()));
              }
            });
  }

  @Test
  void givenTokens_whenShownInOrder_thenTheyPass_andAStaleOneFailsThePrecondition() {
    assertThat(call(channel, FIRST, "")).isEqualTo("invoice/42");
    assertThat(call(channel, SECOND, "")).isEqualTo("invoice/42");
    for (String how : new String[] {"thrown", "wrapped", "onError", "onError and thrown"}) {
      refused(channel, FIRST, how, Status.Code.FAILED_PRECONDITION);
      refused(optionalChannel, FIRST, how, Status.Code.FAILED_PRECONDITION);
    }
    refused(
        channel,
        new FencingToken("invoice/42", SECOND.value(), "twin"),
        "thrown",
        Status.Code.ABORTED);
    assertThat(cell.writes()).isEqualTo(2);
  }

  @Test
  void givenNoToken_thenItIsRefusedWhereOneIsRequired_andPassesElsewhere() {
    refused(channel, null, "", Status.Code.INVALID_ARGUMENT);
    assertThat(call(optionalChannel, null, "")).isEqualTo("without");
    assertThat(cell.writes()).isZero();
  }

  @Test
  void givenMetadataThatCannotBeRead_orIsThereTwice_thenItIsRefused() {
    String text = FencingHeader.format(FIRST);
    for (String[] values : new String[][] {{"v1;lock"}, {text, text}}) {
      Metadata metadata = new Metadata();
      for (String value : values) {
        metadata.put(FencingServerInterceptor.TOKEN_KEY, value);
      }
      refused(
          ClientInterceptors.intercept(
              optionalChannel, MetadataUtils.newAttachHeadersInterceptor(metadata)),
          null,
          "",
          Status.Code.INVALID_ARGUMENT);
    }
  }

  @Test
  void givenLeaseThatIsLost_whenItsTokenIsToBeSent_thenNothingIsSent() {
    Channel intercepted =
        ClientInterceptors.intercept(
            channel,
            new FencingClientInterceptor(
                () -> {
                  throw new LeaseLostException("lost", LeaseEnd.EVICTED);
                }));
    assertThatThrownBy(
            () -> ClientCalls.blockingUnaryCall(intercepted, WRITE, CallOptions.DEFAULT, ""))
        .isInstanceOf(LeaseLostException.class);
    assertThat(cell.writes()).isZero();
  }

  @Test
  void givenServiceThatHasEndedItsCall_whenItThrowsTheRefusalToo_thenTheCallIsEndedOnce() {
    CountingCall call = new CountingCall();
    Metadata headers = new Metadata();
    headers.put(FencingServerInterceptor.TOKEN_KEY, FencingHeader.format(FIRST));
    ServerCall.Listener<String> listener =
        FencingServerInterceptor.required()
            .interceptCall(call, headers, (answering, metadata) -> new EndsAndThrows(answering));
    assertThatThrownBy(listener::onHalfClose).isInstanceOf(StaleTokenException.class);
    assertThat(call.ends).isEqualTo(1);
  }

  /** A service that reports a refusal in both ways. */
  private static final class EndsAndThrows extends ServerCall.Listener<String> {
    private final ServerCall<String, String> call;

    EndsAndThrows(ServerCall<String, String> call) {
      this.call = call;
    }

    @Override
    public void onHalfClose() {
      StaleTokenException refusal = new StaleTokenException("cell", FIRST);
      call.close(Status.UNKNOWN.withCause(refusal), new Metadata());
      throw refusal;
    }
  }

  private static final class CountingCall extends ServerCall<String, String> {
    private int ends;

    @Override
    public void request(int messages) {}

    @Override
    public void sendHeaders(Metadata headers) {}

    @Override
    public void sendMessage(String message) {}

    @Override
    public void close(Status status, Metadata trailers) {
      ends++;
    }

    @Override
    public boolean isCancelled() {
      return false;
    }

    @Override
    public MethodDescriptor<String, String> getMethodDescriptor() {
      return WRITE;
    }
  }
}
