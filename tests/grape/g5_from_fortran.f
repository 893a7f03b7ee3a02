C     Three particles on two axes, as a code for GRAPE-5 in FORTRAN 77
C     asks for their forces.
      PROGRAM CALLER
      INTEGER G5_GET_NUMBER_OF_PIPELINES, G5_GET_JMEMSIZE
      INTEGER I, K, NJ
      REAL*8 X(3,3), XM(3), A(3,3), P(3), EPS
      DATA XM /1.0D0, 3.0D0, 5.0D0/, EPS /1.0D0/
      NJ = 3
      DO 10 I = 1, 3
         DO 5 K = 1, 3
            X(K,I) = 0.0D0
    5    CONTINUE
   10 CONTINUE
      X(1,2) = 2.0D0
      X(3,3) = -4.0D0
      CALL G5_OPEN()
      IF (G5_GET_NUMBER_OF_PIPELINES() .LT. 1) STOP 1
      IF (G5_GET_JMEMSIZE() .LT. NJ) STOP 2
      CALL G5_SET_RANGE(-8.0D0, 8.0D0, 1.0D0)
      CALL G5_SET_XMJ(0, NJ, X, XM)
      CALL G5_SET_N(NJ)
      CALL G5_SET_EPS_TO_ALL(0.0D0)
      CALL G5_CALCULATE_FORCE_ON_X(X, A, P, NJ)
      IF (ABS(A(1,1) - 0.75D0) .GT. 1.0D-6) STOP 3
      IF (ABS(A(3,1) + 0.3125D0) .GT. 1.0D-6) STOP 4
      IF (ABS(P(1) - 2.75D0) .GT. 1.0D-6) STOP 5
      CALL G5_SET_EPS_TO_ALL(EPS)
      CALL G5_SET_XI(2, X)
      CALL G5_RUN()
      CALL G5_GET_FORCE(2, A, P)
      DO 20 I = 1, 2
         P(I) = -P(I) + XM(I) / EPS
   20 CONTINUE
      IF (ABS(P(1) + 3.0D0 / SQRT(5.0D0) + 5.0D0 / SQRT(17.0D0))
     &     .GT. 1.0D-6) STOP 6
      CALL G5_SET_XMJMC(1, 0, 1, X, XM)
      CALL G5_SET_NMC(1, 1)
      CALL G5_CALCULATE_FORCE_ON_XMC(1, X, A, P, 1)
      IF (ABS(P(1) - 1.0D0) .GT. 1.0D-6) STOP 7
      CALL G5_CLOSE()
      CALL G5_CALCULATE_FORCE_ON_X(X, A, P, NJ)
      IF (P(1) .EQ. P(1)) STOP 8
      END
