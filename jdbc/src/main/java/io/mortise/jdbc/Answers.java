package io.mortise.jdbc;

import io.mortise.spi.News;
import java.util.List;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells those who asked a lane what became of it. Belongs to whoever has the lane's baton. */
final class Answers {
  private static final Logger LOG = LoggerFactory.getLogger(Answers.class);

  private final Transactor transactor;
  private final Consumer<List<News>> told;

  /**
   * @param told receives the news of each transaction after its commit, before the answers
   */
  Answers(Transactor transactor, Consumer<List<News>> told) {
    this.transactor = transactor;
    this.told = told;
  }

  /** These are committed. */
  void done(List<Work> works) {
    List<News> news = transactor.takeTold();
    if (!news.isEmpty()) {
      told.accept(news);
    }
    for (Work work : works) {
      safely(work::done);
    }
  }

  /** This one is not, or nobody knows. */
  void failed(Work work, Failure failure) {
    Failure known = work.mayHaveRun ? failure.inDoubt() : failure;
    safely(() -> work.failed(known.trouble(), known.mayHaveRun(), known.cause()));
  }

  private static void safely(Runnable answer) {
    try {
      answer.run();
    } catch (RuntimeException e) {
      LOG.warn("A receiver of answers threw an exception", e);
    }
  }
}
